"""The plain tables of a run, SequenceFiles sorted by key: outcomes, fresh URLs and the states of hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.net.hoststate import HostState
from crawlctl.pipeline.store.layout import data_name
from crawlctl.pipeline.store.manifest import FileEntry
from crawlctl.pipeline.webdb.part import KIND_KEY
from crawlctl.pipeline.webdb.records import decode_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crawlctl.pipeline.formats.sequenceblocks import Block
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import Outcome

    Record = TypeVar("Record")

OUTCOMES = "outcomes"
FRESH = "fresh"
HOSTS = "hosts"
DOCS = "docs"
_BATCH = 4096

_decode_host = msgspec.msgpack.Decoder(HostState).decode


def write_rows(
    store: Store,
    kind: str,
    rows: Mapping[bytes, bytes],
    *,
    partition: int,
    round_number: int,
    counters: dict[str, int] | None = None,
) -> FileEntry:
    """Write rows of packed values as a file of a run."""
    keys = sorted(rows)
    with (
        store.write(data_name(kind, partition, round_number, ".seq")) as sink,
        SequenceFileWriter(sink, metadata={KIND_KEY: kind}) as writer,
    ):
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
            writer.extend(batch, [rows[key] for key in batch])
    return FileEntry(kind, partition, sink.name, sink.bytes, len(keys), sink.checksum, counters or {})


def blocks_of(store: Store, entry: FileEntry) -> Iterator[Block]:
    """Return the rows of a file, many at a time."""
    return SequenceFileReader(store.open(entry.name)).blocks()


def read_outcomes(store: Store, entry: FileEntry) -> Iterator[tuple[bytes, Outcome]]:
    """Yield the WebDB keys and outcomes of a file."""
    return _records(store, entry, decode_outcome)


def read_hosts(store: Store, entry: FileEntry) -> Iterator[tuple[str, HostState]]:
    """Yield the hosts of a file and what is remembered of them."""
    for key, state in _records(store, entry, _decode_host):
        yield key.decode("ascii"), state


def _records(
    store: Store, entry: FileEntry, decode: Callable[[bytes], Record]
) -> Iterator[tuple[bytes, Record]]:
    for block in blocks_of(store, entry):
        for key, value in zip(block.keys, block.values, strict=True):
            try:
                record = decode(value)
            except (msgspec.MsgspecError, UnicodeDecodeError) as err:
                raise CorruptFile(
                    store.locate(entry.name), block.offset, f"a record of {entry.kind}: {err}"
                ) from err
            yield key, record
