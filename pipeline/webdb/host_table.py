"""The host table: the state of every host, sorted by host, one file per partition that has hosts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.politeness.host_state import HostState, HostSummary
from crawlctl.pipeline.state.kinds import HOSTS
from crawlctl.pipeline.urls.hosts import partition_of
from crawlctl.pipeline.webdb.records import encode
from crawlctl.pipeline.webdb.row_files import (
    decode_host,
    find_host_in,
    open_table,
    read_hosts,
    replaced_rows,
    table_rows,
    write_table,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import Rows


_decode_summary = msgspec.msgpack.Decoder(HostSummary).decode

# the prefix of counters of a table: how many hosts failed at the last request, by kind of failure
TROUBLE = "trouble "


def merge_hosts(
    store: Store,
    snapshot: Snapshot,
    partition: int,
    runs: Sequence[FileEntry],
    round_number: int,
    *,
    nobody_reached: bool = False,
) -> tuple[FileEntry, ...]:
    """Write the next host table of a partition: the old table with the hosts of runs; a later run wins.

    Hosts that are in no run keep their state. Without runs no file is written, and the old table stays. With
    `nobody_reached` the hosts of the runs keep their old state too; only the reason of their failure is
    updated.
    """
    if not runs:
        return ()
    new = {host: state for run in runs for host, state in open_table(store, run)}
    if nobody_reached:
        new = _not_blamed(store, snapshot, partition, new)
    return _write(store, snapshot.files_of(HOSTS, partition), new, partition, round_number)


def open_hosts(
    store: Store, tables: Sequence[FileEntry], hosts: Collection[str], *, partition: int, round_number: int
) -> tuple[FileEntry, ...]:
    """Write the next host table of a partition, in which the given hosts may be asked at once.

    If none of these hosts has to wait, no file is written, and the old table stays.
    """
    known = ((host, state) for table in tables for host, state in read_hosts(store, table) if host in hosts)
    opened = ((host, state, state.without_back_off()) for host, state in known)
    new = {host.encode("ascii"): encode(after) for host, before, after in opened if after != before}
    return _write(store, tables, new, partition, round_number) if new else ()


def _write(
    store: Store, tables: Iterable[FileEntry], new: dict[bytes, bytes], partition: int, round_number: int
) -> tuple[FileEntry, ...]:
    """Write a table: the rows of the old tables, with new states of some hosts."""
    troubles: Counter[str] = Counter()
    rows = _counted(replaced_rows(table_rows(store, tables), sorted(new.items())), troubles)
    table = write_table(store, HOSTS, rows, partition=partition, round_number=round_number)
    return (replace(table, counters={f"{TROUBLE}{kind}": hosts for kind, hosts in troubles.items()}),)


def failing_hosts(files: Iterable[FileEntry]) -> Counter[str]:
    """Return how many hosts failed at their last request, by the kind of the failure; no table is read."""
    kinds: Counter[str] = Counter()
    for entry in files:
        for name, hosts in entry.counters.items() if entry.kind == HOSTS else ():
            if name.startswith(TROUBLE):
                kinds[name.removeprefix(TROUBLE)] += hosts
    return kinds


def read_summaries(store: Store, entries: Iterable[FileEntry]) -> Iterator[tuple[str, HostSummary]]:
    """Yield the hosts in the tables among some files, with their states without rules of robots.txt."""
    for entry in entries:
        if entry.kind == HOSTS:
            for key, value in open_table(store, entry):
                yield key.decode("ascii", "backslashreplace"), _summary(entry.name, value)


def find_host(store: Store, snapshot: Snapshot, host: str) -> HostState | None:
    """Return the state of a host, None if no request was ever sent to it."""
    entries = snapshot.files_of(HOSTS, partition_of(host, snapshot.partitions))
    states = (find_host_in(store, entry, host) for entry in entries)
    return next((state for state in states if state is not None), None)


def host_states(store: Store, snapshot: Snapshot, partition: int) -> Iterator[HostState]:
    """Yield the states of all hosts of a partition."""
    for entry in snapshot.files_of(HOSTS, partition):
        yield from (state for _, state in read_hosts(store, entry))


def _not_blamed(
    store: Store, snapshot: Snapshot, partition: int, new: dict[bytes, bytes]
) -> dict[bytes, bytes]:
    old = {
        host: value
        for keys, values in table_rows(store, snapshot.files_of(HOSTS, partition))
        for host, value in zip(keys, values, strict=True)
        if host in new
    }
    known = {host: decode_host(old[host]) if host in old else HostState() for host in new}
    return {host: encode(decode_host(value).unreached(known[host])) for host, value in new.items()}


def _counted(blocks: Iterable[Rows], troubles: Counter[str]) -> Iterator[Rows]:
    """Pass rows on, and count the hosts that failed last by the kind of their failure."""
    for keys, values in blocks:
        for key, value in zip(keys, values, strict=True):
            name = f"the host table, {key.decode('ascii', 'backslashreplace')}"
            troubles[_summary(name, value).trouble] += 1
        yield keys, values
    del troubles[""]  # "" counts hosts that have answered


def _summary(name: str, value: bytes) -> HostSummary:
    """Return a packed state; errors call it `name`."""
    try:
        return _decode_summary(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, 0, f"not the state of a host ({err})") from err
