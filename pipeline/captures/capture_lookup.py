"""Finds the captures of a URL, and reads the records of one capture by one ranged read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.capture_record import joined
from crawlctl.pipeline.captures.capture_table import tables_of
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.source import HeldBytes
from crawlctl.pipeline.formats.warc.warc_reader import WarcReader
from crawlctl.pipeline.state.kinds import CAPTURES
from crawlctl.pipeline.urls.hosts import host_of, partition_of, webdb_key

if TYPE_CHECKING:
    from crawlctl.pipeline.captures.capture_record import CaptureRecord
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


def captures_of(store: Store, snapshot: Snapshot, url: str) -> list[CaptureRecord]:
    """Return all captures of a canonical URL, the oldest first."""
    partition = partition_of(host_of(url), snapshot.partitions)
    tables = tables_of(snapshot.files_of(CAPTURES, partition))
    key = webdb_key(url)
    return joined(capture for table in tables for capture in table.get(store, key))


def read_capture(store: Store, capture: CaptureRecord, *, with_request: bool = False) -> list[bytes]:
    """Return the record blocks of a capture: of the request (if wanted and archived), and of the answer.

    It is one read of exactly the bytes of these records.
    """
    before = capture.request if with_request else 0
    name, start, length = store.locate(capture.file), capture.offset - before, before + capture.length
    data = store.read(capture.file, start, length)
    if len(data) < length:
        raise CorruptFile(name, start, f"it ends within a record of {capture.length} bytes")
    try:
        return [record.read() for record in WarcReader(HeldBytes(name, data))]
    except CorruptFile as err:
        raise CorruptFile(name, start + err.offset, err.reason) from err
