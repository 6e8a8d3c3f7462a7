"""Which URLs and which sitemaps of a partition are due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.webdb import packed
from crawlctl.pipeline.webdb.host_table import host_rows
from crawlctl.pipeline.webdb.part import open_part

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import SitemapSettings
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


def count_due(store: Store, snapshot: Snapshot, partition: int, now: int) -> int:
    """Return how many URLs of a partition are due."""
    part = open_part(store, snapshot, partition)
    mark = packed.due_mark(now)
    return 0 if part is None else sum(packed.count_due(block.values, mark) for block in part.blocks())


def has_due_sitemaps(
    store: Store, snapshot: Snapshot, partition: int, settings: SitemapSettings, now: float
) -> bool:
    """Tell whether a host of a partition has sitemaps that are due."""
    return any(state.sitemaps_due(now, settings) for _, state in host_rows(store, snapshot, partition))
