"""Which URLs and sitemaps are due; a part is read only if its counters do not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.webdb import packed
from crawlctl.pipeline.webdb.census import due_ranges
from crawlctl.pipeline.webdb.host_table import host_states
from crawlctl.pipeline.webdb.part import open_part
from crawlctl.pipeline.webdb.records import NEVER

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import SitemapSettings
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.census import DueRange


_DAY = 24 * 60 * 60  # seconds
_WEEK = 7 * _DAY


def count_due(store: Store, snapshot: Snapshot, now: int) -> int:
    """Return how many URLs are due; reads only the parts whose counters do not tell exactly."""
    total = 0
    for partition, ranges in _ranges(snapshot).items():
        if not ranges or any(span.is_open(now) for span in ranges):
            total += _read_due(store, snapshot, partition, now)
        else:
            total += sum(span.due(now) for span in ranges)
    return total


def estimate_due(store: Store, snapshot: Snapshot, now: int) -> dict[int, int]:
    """Return about how many URLs are due per partition: 0 only if none is due.

    Partitions without a part are left out. Only parts of older releases, which have no counters of due
    times, are read.
    """
    return {
        partition: sum(span.due(now) for span in ranges)
        if ranges
        else _read_due(store, snapshot, partition, now)
        for partition, ranges in _ranges(snapshot).items()
    }


class DueCounts(msgspec.Struct, frozen=True):
    """How many URLs are due now, and how many more fall due within a day and within a week.

    The counts are estimates while a range of due times has begun but not ended (census.py).
    """

    now: int
    day: int
    week: int


def due_counts(store: Store, snapshot: Snapshot, now: int) -> DueCounts:
    """Return how many URLs of a crawl fall due soon, by the counters of the WebDB parts."""
    ready, day, week = (
        sum(estimate_due(store, snapshot, now + seconds).values()) for seconds in (0, _DAY, _WEEK)
    )
    return DueCounts(ready, day - ready, week - ready)


def next_due(snapshot: Snapshot, now: int) -> int | None:
    """Return the earliest due time after now, in UTC seconds; None if the counters do not tell.

    It is exact if no URL is due now.
    """
    firsts = [span.first for ranges in _ranges(snapshot).values() for span in ranges]
    return min((first for first in firsts if now < first < NEVER), default=None)


def _ranges(snapshot: Snapshot) -> dict[int, tuple[DueRange, ...]]:
    """Return the ranges of due times by partition; parts of older releases have none."""
    # The data file of a part has the counters; its index has none, and no records.
    return {
        entry.partition: due_ranges(entry.counters) for entry in snapshot.files_of(WEBDB) if entry.records
    }


def _read_due(store: Store, snapshot: Snapshot, partition: int, now: int) -> int:
    part = open_part(store, snapshot, partition)
    mark = packed.due_mark(now)
    return 0 if part is None else sum(packed.count_due(block.values, mark) for block in part.blocks())


def has_due_sitemaps(
    store: Store, snapshot: Snapshot, partition: int, settings: SitemapSettings, now: float
) -> bool:
    """Return whether a host of a partition has sitemaps that are due."""
    return any(state.sitemaps_due(now, settings) for state in host_states(store, snapshot, partition))
