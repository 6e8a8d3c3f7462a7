"""Puts seeds into the WebDB, and says how many partitions a new crawl gets."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.processes.cores import usable_cores
from crawlctl.pipeline.webdb.merge.update import inject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.crawl.leased_crawl import LeasedCrawl
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.webdb.merge.update import Injected

FEWEST_PARTITIONS = 4


def partitions_of(config: Config) -> int:
    """Return the number of partitions of a new crawl: the setting, or one per core, but at least four.

    With fewer, the hosts of a small crawl would wait for each other.
    """
    return config.partitions or max(FEWEST_PARTITIONS, usable_cores())


def seed_crawl(work: Work, seeds: Sequence[str]) -> Injected:
    """Put seeds into the crawl of a store, and commit it if any of them is new."""
    with leased_crawl(work, "inject", runs_jobs=False) as crawl:
        return add_seeds(crawl, seeds)


def add_seeds(crawl: LeasedCrawl, seeds: Sequence[str]) -> Injected:
    """Put seeds into a crawl that is leased, and commit it if any of them is new."""
    injected = inject(crawl.store, crawl.snapshot, seeds, int(time.time()))
    if injected.files != crawl.snapshot.files:
        crawl.commit(injected.files)
    return injected
