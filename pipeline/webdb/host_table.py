"""The host table: the state of every host, sorted by host, one file per partition that has hosts."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from crawlctl.pipeline.state.kinds import HOSTS
from crawlctl.pipeline.urls.hosts import partition_of
from crawlctl.pipeline.webdb.row_files import find_host_in, open_table, read_hosts, write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.politeness.host_state import HostState
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import Rows


def merge_hosts(
    store: Store, snapshot: Snapshot, partition: int, runs: Sequence[FileEntry], round_number: int
) -> tuple[FileEntry, ...]:
    """Write the next host table of a partition: the old one with the hosts of runs; a later run wins.

    Hosts that are in no run keep their state. Without runs no file is written, and the old table stays.
    """
    if not runs:
        return ()
    new = {host: state for run in runs for host, state in open_table(store, run)}
    rows = _replaced(_old_rows(store, snapshot, partition), sorted(new.items()))
    return (write_table(store, HOSTS, rows, partition=partition, round_number=round_number),)


def find_host(store: Store, snapshot: Snapshot, host: str) -> HostState | None:
    """Return the state of a host, None if no request was ever sent to it."""
    entries = snapshot.files_of(HOSTS, partition_of(host, snapshot.partitions))
    states = (find_host_in(store, entry, host) for entry in entries)
    return next((state for state in states if state is not None), None)


def host_states(store: Store, snapshot: Snapshot, partition: int) -> Iterator[HostState]:
    """Yield the states of all hosts of a partition."""
    for entry in snapshot.files_of(HOSTS, partition):
        yield from (state for _, state in read_hosts(store, entry))


def _old_rows(store: Store, snapshot: Snapshot, partition: int) -> Iterator[Rows]:
    for entry in snapshot.files_of(HOSTS, partition):
        for block in open_table(store, entry).blocks():
            yield block.keys, block.values


def _replaced(old: Iterable[Rows], new: list[tuple[bytes, bytes]]) -> Iterator[Rows]:
    """Yield old rows and new rows in order, of a host that has both the new one; both are sorted."""
    start = 0
    for keys, values in old:
        stop = bisect_left(new, (keys[-1] + b"\0",), start)
        rows = dict(zip(keys, values, strict=True)) | dict(new[start:stop])
        ordered = sorted(rows)
        yield ordered, [rows[key] for key in ordered]
        start = stop
    if start < len(new):
        yield [host for host, _ in new[start:]], [state for _, state in new[start:]]
