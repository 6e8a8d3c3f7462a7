"""The host table: host to packed HostState, sorted by host, one file for each partition that has hosts."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.politeness.host_state import HostState
from crawlctl.pipeline.state.kinds import HOSTS
from crawlctl.pipeline.urls.hosts import partition as partition_of
from crawlctl.pipeline.webdb.row_files import open_table, write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.merge.join import Rows

_decoder = msgspec.msgpack.Decoder(HostState)


def carry_hosts(
    store: Store, snapshot: Snapshot, partition: int, runs: Sequence[FileEntry], round_number: int
) -> tuple[FileEntry, ...]:
    """Write the table of a partition anew with the hosts of some runs, of which the last one wins.

    Hosts that no run has met keep what is known of them. Without runs nothing is written: the table stays.
    """
    if not runs:
        return ()
    heard = {host: state for run in runs for host, state in open_table(store, run)}
    rows = _replaced(_old_rows(store, snapshot, partition), sorted(heard.items()))
    return (write_table(store, HOSTS, rows, partition=partition, round_number=round_number),)


def find_host(store: Store, snapshot: Snapshot, host: str) -> HostState | None:
    """Return what is known of a host, None if it was never asked."""
    key = host.encode()
    for entry in snapshot.files_of(HOSTS, partition_of(host, snapshot.partitions)):
        for block in open_table(store, entry).blocks():
            if key in block.keys:
                return _decode(block.values[block.keys.index(key)], entry.name)
    return None


def host_rows(store: Store, snapshot: Snapshot, partition: int) -> Iterator[tuple[bytes, HostState]]:
    """Yield the hosts of a partition and what is known of them."""
    for entry in snapshot.files_of(HOSTS, partition):
        for block in open_table(store, entry).blocks():
            for host, value in zip(block.keys, block.values, strict=True):
                yield host, _decode(value, entry.name)


def _old_rows(store: Store, snapshot: Snapshot, partition: int) -> Iterator[Rows]:
    for entry in snapshot.files_of(HOSTS, partition):
        for block in open_table(store, entry).blocks():
            yield block.keys, block.values


def _replaced(old: Iterable[Rows], heard: list[tuple[bytes, bytes]]) -> Iterator[Rows]:
    """Yield the old rows with those heard in their places; both are sorted."""
    start = 0
    for keys, values in old:
        stop = bisect_left(heard, (keys[-1] + b"\0",), start)
        rows = dict(zip(keys, values, strict=True)) | dict(heard[start:stop])
        ordered = sorted(rows)
        yield ordered, [rows[key] for key in ordered]
        start = stop
    if start < len(heard):
        yield [host for host, _ in heard[start:]], [state for _, state in heard[start:]]


def _decode(value: bytes, name: str) -> HostState:
    try:
        return _decoder.decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, 0, f"not the state of a host ({err})") from err
