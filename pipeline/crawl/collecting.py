"""Deletes what no kept snapshot names, under the lease of the crawl."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.state.garbage import collect
from crawlctl.pipeline.state.journal import open_round_files

if TYPE_CHECKING:
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.garbage import Collected


def collect_garbage(work: Work, *, dry_run: bool = False) -> Collected:
    """Delete old snapshots and all files that nothing names, as the gc settings say."""
    settings = work.config.gc
    with leased_crawl(work, "gc", runs_jobs=False, on_full_disk=True) as crawl:
        # No snapshot names yet what a killed run has done of its round.
        open_round = open_round_files(crawl.store, crawl.next_round)
        return collect(
            crawl.store,
            keep=settings.keep_snapshots,
            min_age=settings.min_age,
            now=time.time(),
            dry_run=dry_run,
            also_keep=open_round,
        )
