"""Reads the captures of an archive of crawlctl from its records, to make lost tables again."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.captures.capture_record import CaptureRecord, media_type
from crawlctl.pipeline.captures.capture_table import LISTED, RunCaptures
from crawlctl.pipeline.errors import CorruptFile, UrlError
from crawlctl.pipeline.formats.warc.warc_date import seconds_of
from crawlctl.pipeline.formats.warc.warc_reader import WarcReader, split_http
from crawlctl.pipeline.http.exchange import parse_headers
from crawlctl.pipeline.urls.hosts import host_of_key, partition_of, webdb_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.formats.warc.warc_reader import WarcRecord
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

ANSWERS = ("response", "revisit")
_MAX_HEAD = 256 << 10
_HELD = 200_000  # the most captures held in memory before they are written


def captures_in(
    source: RangedSource, name: str, only: str | None = None
) -> Iterator[tuple[bytes, CaptureRecord]]:
    """Yield the WebDB key and the capture of each answer (or of one URL's answers) in the archive `name`."""
    request: WarcRecord | None = None
    held: tuple[bytes, CaptureRecord] | None = None
    for record in WarcReader(source):
        if held is not None:
            yield _ending(held, record.offset)
            held = None
        if record.type in ANSWERS and record.url and only in (None, record.url):
            before = record.offset - request.offset if request and request.url == record.url else 0
            held = _capture(record, name, before)
        request = record if record.type == "request" else None
    if held is not None:
        yield _ending(held, source.size)


def _ending(held: tuple[bytes, CaptureRecord], end: int) -> tuple[bytes, CaptureRecord]:
    """Return a capture with its length: a record ends where the next one begins."""
    key, capture = held
    return key, replace(capture, length=end - capture.offset)


def _capture(record: WarcRecord, name: str, request: int) -> tuple[bytes, CaptureRecord] | None:
    """Return key and capture of an answer, without its length; None if its URL or date cannot be read."""
    try:
        key = webdb_key(record.url or "")
        date = seconds_of(record.header("WARC-Date") or "")
        head, _ = split_http(record.read(min(record.length, _MAX_HEAD)))
        status = int(head.split(b"\n", 1)[0].split()[1])
    except (UrlError, ValueError, IndexError):
        return None
    return key, CaptureRecord(
        date,
        status,
        media_type(dict(reversed(parse_headers(head))).get("content-type", "")),
        record.header("WARC-Payload-Digest") or "",
        name,
        record.offset,
        0,
        request,
        record.type == "revisit",
    )


def list_archives(
    store: Store, archives: Iterable[FileEntry], partitions: int, round_number: int
) -> Iterator[FileEntry]:
    """Write tables with the captures of some archives: one table for each partition that has captures.

    Yield the files of the tables, and each archive with the counter `captures`, which marks it as listed. A
    damaged archive is not listed: look-ups read it whole, and `crawlctl check` names it. After a copy into
    another number of partitions an archive may have pages of several partitions.
    """
    runs: defaultdict[int, RunCaptures] = defaultdict(RunCaptures)
    for entry in archives:
        try:
            found = list(captures_in(store.open(entry.name), entry.name))
        except CorruptFile:
            yield entry
            continue
        for key, capture in found:
            runs[partition_of(host_of_key(key), partitions)].add(key, capture)
        yield replace(entry, counters={**entry.counters, LISTED: len(found)})
        if sum(run.count for run in runs.values()) >= _HELD:
            yield from _written(store, runs, round_number)
    yield from _written(store, runs, round_number)


def _written(store: Store, runs: dict[int, RunCaptures], round_number: int) -> Iterator[FileEntry]:
    for partition, run in sorted(runs.items()):
        yield from run.write(store, partition=partition, round_number=round_number)
    runs.clear()
