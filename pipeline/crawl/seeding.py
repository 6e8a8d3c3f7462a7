"""Checks seeds against the scope, puts them into the WebDB, and says how many partitions a new crawl gets."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.processes.cores import usable_cores
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.store.local.sync_group import synced_together
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.pipeline.urls.seeds import Problem
from crawlctl.pipeline.urls.whatwg import shown
from crawlctl.pipeline.webdb.merge.update import inject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.config.settings import Config, ScopeSettings
    from crawlctl.pipeline.crawl.leased_crawl import LeasedCrawl
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.scope.scope import Exclusion
    from crawlctl.pipeline.urls.seeds import Seeds
    from crawlctl.pipeline.webdb.merge.update import Injected

FEWEST_PARTITIONS = 4
_SHOWN_RULES = 3


def partitions_of(config: Config) -> int:
    """Return the number of partitions of a new crawl: the setting, or one per core, but at least four.

    With fewer partitions, the hosts of a small crawl would wait for each other.
    """
    return config.partitions or max(FEWEST_PARTITIONS, usable_cores())


def within_scope(seeds: Seeds, settings: ScopeSettings) -> Seeds:
    """Return the seeds; a seed outside the scope becomes a problem, because it would never be fetched."""
    scope = Scope(settings, map(host_of, seeds.urls))
    verdicts = [(seed, scope.verdict(seed.url, 0)) for seed in seeds.seeds]
    outside = [
        Problem(seed.line, f"{shown(seed.url)} is outside the scope: {_reason(exclusion, settings)}")
        for seed, exclusion in verdicts
        if exclusion is not None
    ]
    inside = tuple(seed for seed, exclusion in verdicts if exclusion is None)
    return replace(seeds, seeds=inside, problems=(*seeds.problems, *outside))


def _reason(exclusion: Exclusion, settings: ScopeSettings) -> str:
    if exclusion.setting != "scope.include":
        return str(exclusion)
    rules = settings.include[:_SHOWN_RULES]
    more = ", …" if len(settings.include) > len(rules) else ""
    return (
        f"it matches no rule of scope.include ({', '.join(rules)}{more}); add a rule for it to "
        "scope.include, or leave the URL out"
    )


def folder_hint(urls: Sequence[str], settings: ScopeSettings) -> tuple[str, ...]:
    """Return a line on how to stay in the folders of the seeds; no line if there are rules, or no folders."""
    folders = dict.fromkeys(url[: url.partition("?")[0].rindex("/") + 1] for url in urls)
    deep = [folder for folder in folders if urlsplit(folder).path != "/"][:_SHOWN_RULES]
    if settings.include or not deep:
        return ()
    hosts = ", ".join(dict.fromkeys(map(host_of, folders)))
    below = ", ".join(urlsplit(folder).path for folder in deep)
    flags = " ".join(f"--include '{folder}*'" for folder in deep)
    return (f"staying on {hosts}; to stay below {below} add {flags}",)


def seed_crawl(work: Work, seeds: Sequence[str]) -> Injected:
    """Put seeds into the crawl of a store, and commit it if any of them is new."""
    with leased_crawl(work, "inject", runs_jobs=False) as crawl:
        return add_seeds(crawl, seeds)


def add_seeds(crawl: LeasedCrawl, seeds: Sequence[str]) -> Injected:
    """Put seeds into a crawl that is leased, and commit it if any of them is new."""
    with synced_together():
        injected = inject(crawl.store, crawl.snapshot, seeds, int(time.time()))
    if injected.files != crawl.snapshot.files:
        crawl.commit(injected.files, made_by=crawl.part_of_command(counted(injected.new, "new seed")))
    return injected
