"""The plain tables of a run, sorted by key: outcomes, fresh URLs and the states of hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.politeness.host_state import HostState
from crawlctl.pipeline.webdb.records import decode_outcome
from crawlctl.pipeline.webdb.row_files import open_table, write_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.merge.join import Rows
    from crawlctl.pipeline.webdb.records import Outcome

    Record = TypeVar("Record")

_BATCH = 4096

_decode_host = msgspec.msgpack.Decoder(HostState).decode


def write_rows(
    store: Store, kind: str, rows: Mapping[bytes, bytes], *, partition: int, round_number: int
) -> FileEntry:
    """Write packed values, which come in any order, as a table of a run."""
    return write_table(store, kind, _batches(rows), partition=partition, round_number=round_number)


def _batches(rows: Mapping[bytes, bytes]) -> Iterator[Rows]:
    keys = sorted(rows)
    for start in range(0, len(keys), _BATCH):
        batch = keys[start : start + _BATCH]
        yield batch, [rows[key] for key in batch]


def read_outcomes(store: Store, entry: FileEntry) -> Iterator[tuple[bytes, Outcome]]:
    """Yield the WebDB keys and outcomes of a table."""
    return _records(store, entry, decode_outcome)


def read_hosts(store: Store, entry: FileEntry) -> Iterator[tuple[str, HostState]]:
    """Yield the hosts of a table and what is remembered of them."""
    for key, state in _records(store, entry, _decode_host):
        yield key.decode("ascii"), state


def _records(
    store: Store, entry: FileEntry, decode: Callable[[bytes], Record]
) -> Iterator[tuple[bytes, Record]]:
    for block in open_table(store, entry).blocks():
        for key, value in zip(block.keys, block.values, strict=True):
            try:
                record = decode(value)
            except (msgspec.MsgspecError, UnicodeDecodeError) as err:
                raise CorruptFile(
                    store.locate(entry.name), block.offset, f"not a row of {entry.kind} ({err})"
                ) from err
            yield key, record
