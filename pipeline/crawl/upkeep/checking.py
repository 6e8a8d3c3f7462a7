"""Checks a crawl: every file of a snapshot, its other snapshots, the journal and the lease."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.work import Shown, run_by_order
from crawlctl.pipeline.errors import CorruptFile, CorruptLease, MissingFile
from crawlctl.pipeline.repair.finding import Finding, decode_finding
from crawlctl.pipeline.repair.order import CheckOrder
from crawlctl.pipeline.state.journal import unreadable_records
from crawlctl.pipeline.state.layout import LEASE, ROUNDS, SNAPSHOTS, lease_name, snapshot_name
from crawlctl.pipeline.state.leases.lease_records import highest_number, latest_record, list_records
from crawlctl.pipeline.state.snapshots import load_snapshot, snapshot_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


@dataclass(frozen=True)
class Checked:
    """The findings of a check of a snapshot; without findings the crawl is sound."""

    snapshot: Snapshot
    findings: tuple[Finding, ...]

    @property
    def bytes(self) -> int:
        """The size of all files that were read."""
        return sum(entry.bytes for entry in self.snapshot.files)


def check_snapshot(work: Work, snapshot: Snapshot) -> Checked:
    """Check the files of a snapshot, one task per partition, and the records of the crawl."""
    found = [*_check_files(work, snapshot), *check_records(work.store, snapshot)]
    return Checked(snapshot, tuple(found))


def _check_files(work: Work, snapshot: Snapshot) -> Iterator[Finding]:
    from crawlctl.jobs.upkeep.check_crawl import CheckCrawl

    # Shards of the dictionary may have higher numbers than there are partitions.
    partitions = sorted({entry.partition for entry in snapshot.files})
    if not partitions:
        return
    order = CheckOrder(store=work.store.uri, snapshot=snapshot.number)
    shown = Shown("check", len(partitions), "partitions")
    lines = [str(number).encode() for number in partitions]
    done = run_by_order(work, CheckCrawl, order, lines, shown=shown)
    yield from (decode_finding(line) for _, line in done.output)


def check_records(store: Store, snapshot: Snapshot) -> Iterator[Finding]:
    """Yield what is wrong with other snapshots, the journal of the open round, and the lease."""
    for number in snapshot_numbers(store):
        try:
            load_snapshot(store, number)
        except MissingFile:  # a running command has deleted it as garbage meanwhile
            continue
        except CorruptFile as err:
            reason = f"it is damaged: {err.reason}; no other file needs it, and `crawlctl gc` deletes it"
            yield Finding(snapshot_name(number), SNAPSHOTS, 0, "damaged", reason)
    for name, reason in unreadable_records(store, snapshot.round + 1):
        yield Finding(name, ROUNDS, 0, "damaged", f"it is damaged: {reason}")
    try:
        latest_record(store)
    except CorruptLease as err:
        name = lease_name(highest_number(list_records(store)))
        yield Finding(name, LEASE, 0, "damaged", f"it is damaged: {err.reason}; {err.remedy}")


def newest_sound(work: Work) -> Snapshot | None:
    """Return the newest undamaged snapshot, to return to if the current snapshot is damaged."""
    for number in reversed(snapshot_numbers(work.store)):
        try:
            snapshot = load_snapshot(work.store, number)
        except (CorruptFile, MissingFile):
            continue
        if not list(_check_files(work, snapshot)):
            return snapshot
    return None
