"""SequenceFiles of keys and packed records.

Such files hold the discovered URLs, outcomes, hosts and blocks of runs, the host tables and tables of blocks.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, TypeVar

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.politeness.host_state import HostState
from crawlctl.pipeline.state.layout import KIND_KEY, data_name
from crawlctl.pipeline.state.manifest import FileEntry, open_whole
from crawlctl.pipeline.webdb.records import decode_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import Outcome, Rows

    Record = TypeVar("Record")

_BATCH_ROWS = 4096

decode_host = msgspec.msgpack.Decoder(HostState).decode


def write_table(
    store: Store, kind: str, blocks: Iterable[Rows], *, partition: int, round_number: int
) -> FileEntry:
    """Write keys and packed records, given in key order, as one file."""
    with (
        store.write(data_name(kind, partition, round_number)) as sink,
        SequenceFileWriter(sink, metadata={KIND_KEY: kind}) as table,
    ):
        for keys, values in blocks:
            table.extend(keys, values)
    return FileEntry(kind, partition, sink.name, sink.bytes, table.records, sink.checksum)


def write_rows(
    store: Store, kind: str, rows: Mapping[bytes, bytes], *, partition: int, round_number: int
) -> FileEntry:
    """Write packed records by key, given in any order, as one file."""
    return write_table(store, kind, _sorted_batches(rows), partition=partition, round_number=round_number)


def _sorted_batches(rows: Mapping[bytes, bytes]) -> Iterator[Rows]:
    keys = sorted(rows)
    for start in range(0, len(keys), _BATCH_ROWS):
        batch = keys[start : start + _BATCH_ROWS]
        yield batch, [rows[key] for key in batch]


def open_table(store: Store, entry: FileEntry) -> SequenceFileReader:
    """Return a reader of a file, after a look at its size: a file cut off between two blocks reads well."""
    return SequenceFileReader(open_whole(store, entry))


def table_rows(store: Store, tables: Iterable[FileEntry]) -> Iterator[Rows]:
    """Yield the keys and packed records of some files, block by block."""
    for entry in tables:
        for block in open_table(store, entry).blocks():
            yield block.keys, block.values


def replaced_rows(old: Iterable[Rows], new: list[tuple[bytes, bytes]]) -> Iterator[Rows]:
    """Yield old and new rows in key order; if a key has both, its new row. Both inputs are sorted."""
    start = 0
    for keys, values in old:
        stop = bisect_left(new, (keys[-1] + b"\0",), start)
        rows = dict(zip(keys, values, strict=True)) | dict(new[start:stop])
        ordered = sorted(rows)
        yield ordered, [rows[key] for key in ordered]
        start = stop
    if start < len(new):
        yield [key for key, _ in new[start:]], [value for _, value in new[start:]]


def read_outcomes(store: Store, entry: FileEntry) -> Iterator[tuple[bytes, Outcome]]:
    """Yield the WebDB keys and outcomes of a file."""
    for block in open_table(store, entry).blocks():
        yield from zip(block.keys, _decoded(block, decode_outcome, store, entry), strict=True)


def read_hosts(store: Store, entry: FileEntry) -> Iterator[tuple[str, HostState]]:
    """Yield the hosts of a file and their states."""
    for block in open_table(store, entry).blocks():
        states = _decoded(block, decode_host, store, entry)
        yield from ((key.decode("ascii"), state) for key, state in zip(block.keys, states, strict=True))


def find_host_in(store: Store, entry: FileEntry, host: str) -> HostState | None:
    """Return the state of a host in a file, None if it is not there; other states are not decoded."""
    key = host.encode("ascii")
    for block in open_table(store, entry).blocks():
        if key in block.keys:
            row = block.keys.index(key)
            return _decoded(block.slice(row, row + 1), decode_host, store, entry)[0]
    return None


def _decoded(block: Block, decode: Callable[[bytes], Record], store: Store, entry: FileEntry) -> list[Record]:
    """Return the records of a block; damage is reported with the name of the file."""
    try:
        return [*map(decode, block.values)]
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        reason = f"not a row of {entry.kind} ({err})"
        raise CorruptFile(store.locate(entry.name), block.offset, reason) from err
