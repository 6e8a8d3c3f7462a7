"""The plan of a round: which partitions have something due, and how the budget is split among them."""

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
class Share:
    """What a partition has to do, and its part of the budget."""

    partition: int
    due: int
    max_pages: int
    max_bytes: int


@dataclass(frozen=True)
class Plan:
    """The partitions that take part in a round, and the time at which fetching ends."""

    shares: tuple[Share, ...]
    deadline: float

    @property
    def pages(self) -> int:
        """The most pages that will be fetched."""
        return sum(min(share.due, share.max_pages) for share in self.shares)


def plan_round(
    store: Store,
    snapshot: Snapshot,
    settings: RoundSettings,
    now: float,
    begun: Collection[int] = (),
    *,
    sitemaps: SitemapSettings | None = None,
) -> Plan:
    """Split the budget of a round by what is due; partitions that have begun it take part in any case.

    So do those with sitemaps to read, though no page of theirs is due.
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
    return Plan(tuple(Share(number, due[number], *most) for number, *most in shares), now + settings.max_time)


def proportional(total: int, weights: Sequence[int]) -> list[int]:
    """Return shares of a total in proportion to the weights: they add up to it, but nobody gets nothing."""
    whole = sum(weights)
    bounds = [total * reached // whole for reached in accumulate(weights, initial=0)] if weights else [0]
    return [max(upper - lower, 1) for lower, upper in pairwise(bounds)]
