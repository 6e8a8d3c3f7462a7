"""Checks the tables of captures: their counters, and that each capture lies in an archive of the snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.capture_table import IMPORTED, LISTED, tables_of
from crawlctl.pipeline.repair.finding import Finding
from crawlctl.pipeline.state.kinds import CAPTURES, PAGES
from crawlctl.pipeline.urls.hosts import host_of_key, partition_of, url_of_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawlctl.pipeline.captures.capture_table import CaptureTable
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


def check_captures(
    store: Store, snapshot: Snapshot, partition: int, damaged: Collection[str]
) -> Iterator[Finding]:
    """Read the tables of a partition, and compare them with their counters and with the archives."""
    files = [entry for entry in snapshot.files_of(CAPTURES, partition) if entry.name not in damaged]
    whole = {entry.name.rpartition("/")[0] for entry in files}
    whole -= {name.rpartition("/")[0] for name in damaged}
    for table in tables_of(entry for entry in files if entry.name.rpartition("/")[0] in whole):
        if reason := _fault(store, snapshot, table):
            yield Finding(table.data.name, CAPTURES, partition, "wrong", reason)
    if partition == min(entry.partition for entry in snapshot.files):
        yield from _check_totals(snapshot)


def _fault(store: Store, snapshot: Snapshot, table: CaptureTable) -> str:
    """Return the fault of a table, an empty text if it has none."""
    sizes = {entry.name: entry.bytes for entry in snapshot.files_of(PAGES)}
    partition, counts = table.data.partition, {LISTED: 0, IMPORTED: 0}
    for key, captures in table.rows(store):
        if partition_of(host_of_key(key), snapshot.partitions) != partition:
            return f"{url_of_key(key)} belongs to another partition"
        for capture in captures:
            counts[IMPORTED if capture.is_imported else LISTED] += 1
            if not capture.is_imported and capture.offset + capture.length > sizes.get(capture.file, -1):
                return (
                    f"{url_of_key(key)} would lie in {capture.file} at {capture.offset}, which is not there"
                )
    odd = [name for name, count in counts.items() if count != table.data.counters.get(name)]
    return f"it has {counts[odd[0]]} {odd[0]}, not {table.data.counters.get(odd[0], 0)}" if odd else ""


def _check_totals(snapshot: Snapshot) -> Iterator[Finding]:
    """Compare the counters of all tables with those of the archives; the task of one partition does it.

    After a copy into another number of partitions the captures of an archive lie in several partitions.
    """
    if (listed := listed_captures(snapshot)) != (archived := archived_captures(snapshot)):
        reason = f"the tables have {listed} captures, and the archives {archived}"
        yield Finding(CAPTURES, CAPTURES, 0, "wrong", reason)


def listed_captures(snapshot: Snapshot) -> int:
    """Return how many captures of archives in the store the tables have, by their counters."""
    return sum(entry.counters.get(LISTED, 0) for entry in snapshot.files_of(CAPTURES))


def archived_captures(snapshot: Snapshot) -> int:
    """Return how many captures the tables should have, by the counters of the archives."""
    return sum(entry.counters.get(LISTED, 0) for entry in snapshot.files_of(PAGES))
