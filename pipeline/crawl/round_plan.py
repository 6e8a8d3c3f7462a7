"""The plan of a round: which partitions take part, and how they share the budget.

The plan needs only the counters of the WebDB parts in the snapshot (webdb/census.py). It reads a part only if
an older release has written it, and host tables only of partitions in which no URL is due.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from crawlctl.pipeline.webdb.due import estimate_due, has_due_sitemaps

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from crawlctl.pipeline.config.settings import RoundSettings, SitemapSettings
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


@dataclass(frozen=True)
class PlannedPartition:
    """The share of a partition: about how many URLs are due, and how many pages and bytes it may fetch."""

    partition: int
    due: int
    max_pages: int
    max_bytes: int


@dataclass(frozen=True)
class RoundPlan:
    """The partitions that take part in a round, and the time at which fetching ends."""

    shares: tuple[PlannedPartition, ...]
    deadline: float
    fetch_time: float  # seconds from the plan to the deadline

    @property
    def pages(self) -> int:
        """About how many pages will be fetched at most."""
        return sum(min(share.due, share.max_pages) for share in self.shares)


def plan_round(
    store: Store,
    snapshot: Snapshot,
    settings: RoundSettings,
    now: float,
    begun: Collection[int] = (),
    *,
    sitemaps: SitemapSettings | None = None,
    fetch_time: float,
) -> RoundPlan:
    """Split the budget of a round in proportion to the URLs that are due.

    Fetching ends `fetch_time` seconds after `now`. A partition takes part if a URL or a sitemap is due,
    or if it has already begun this round.
    """
    due = dict.fromkeys(range(snapshot.partitions), 0) | estimate_due(store, snapshot, int(now))
    taking_part = [
        number
        for number, count in due.items()
        if count or number in begun or (sitemaps and has_due_sitemaps(store, snapshot, number, sitemaps, now))
    ]
    weights = [max(due[number], 1) for number in taking_part]
    pages = proportional(settings.max_pages, weights)
    octets = proportional(settings.max_bytes, weights)
    shares = zip(taking_part, pages, octets, strict=True)
    taken = tuple(PlannedPartition(number, due[number], *most) for number, *most in shares)
    return RoundPlan(taken, now + fetch_time, fetch_time)


def proportional(total: int, weights: Sequence[int]) -> list[int]:
    """Return shares of a total in proportion to the weights; they add up to it, but each is at least 1."""
    whole = sum(weights)
    bounds = [total * reached // whole for reached in accumulate(weights, initial=0)] if weights else [0]
    return [max(upper - lower, 1) for lower, upper in pairwise(bounds)]
