"""Checks seeds against the scope, puts them into the WebDB, and says how many partitions a new crawl gets."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from crawlctl.pipeline.crawl.changes.revision import Revised, revise_pages
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.processes.cores import usable_cores
from crawlctl.pipeline.runners.switches import require_conf
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.store.local.sync_group import synced_together
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.urls.hosts import host_of, partition_of
from crawlctl.pipeline.urls.seeds import Problem
from crawlctl.pipeline.urls.whatwg import shown
from crawlctl.pipeline.webdb.merge.update import inject
from crawlctl.pipeline.webdb.part import lookup, open_part
from crawlctl.pipeline.webdb.records import Status
from crawlctl.pipeline.webdb.seed_hosts import seed_hosts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.config.settings import Config, ScopeSettings
    from crawlctl.pipeline.crawl.leased_crawl import LeasedCrawl
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.scope.scope import Exclusion
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.urls.seeds import Seeds

FEWEST_PARTITIONS = 4
_SHOWN_RULES = 3
_CHECKED_SEEDS = 10  # of how many seeds a run says that they lead outside; each costs a look-up


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


@dataclass(frozen=True)
class AddedSeeds:
    """How many seeds were new to the crawl or known, and how many known URLs are due because of them."""

    new: int
    known: int
    let_in: int = 0

    def lines(self) -> Iterator[str]:
        """Yield what has changed, for the user."""
        if self.new:
            yield f"injected {counted(self.new, 'new URL')}"
        yield from self.let_in_lines()

    def let_in_lines(self) -> Iterator[str]:
        """Yield a line about the known URLs that have become due, if there are any."""
        if self.let_in:
            are_due = counted(self.let_in, "known URL is", "known URLs are")
            yield f"{are_due} due now, because a seed has brought a new host into the scope"


def seed_crawl(work: Work, seeds: Sequence[str]) -> AddedSeeds:
    """Put seeds into the crawl of a store, and commit it if any of them changes something."""
    with leased_crawl(work, "inject", runs_jobs=False) as crawl:
        return add_seeds(crawl, seeds)


def add_seeds(crawl: LeasedCrawl, seeds: Sequence[str]) -> AddedSeeds:
    """Put seeds into a crawl that is leased, and commit it if any of them changes something."""
    known = tuple(_hosts_let_in(crawl, seeds))
    if known:  # a job revises them, so its settings are checked before anything is written
        require_conf(crawl.work.config.runner)
    with synced_together():
        injected = inject(crawl.store, crawl.snapshot, seeds, int(time.time()))
    after = msgspec.structs.replace(crawl.snapshot, files=injected.files)
    revised = revise_pages(crawl.work, after, only=known) if known else Revised(after.files)
    if revised.files != crawl.snapshot.files:
        crawl.commit(revised.files, made_by=crawl.part_of_command(counted(injected.new, "new seed")))
    return AddedSeeds(injected.new, injected.known, revised.due)


def _hosts_let_in(crawl: LeasedCrawl, seeds: Sequence[str]) -> Iterator[str]:
    """Yield the hosts whose known URLs belong to the crawl only because of these seeds.

    Without rules the scope is the hosts of the seeds, so the first seed of a host widens it: for the pages of
    an archive, and for URLs of the host that were excluded.
    """
    if crawl.work.config.scope.include:
        return
    new = set(map(host_of, seeds)) - seed_hosts(crawl.store, crawl.snapshot)
    yield from _known_hosts(crawl.store, crawl.snapshot, new)


def _known_hosts(store: Store, snapshot: Snapshot, hosts: Iterable[str]) -> Iterator[str]:
    """Yield the hosts of which the crawl knows a URL."""
    by_partition: dict[int, list[str]] = defaultdict(list)
    for host in sorted(hosts):
        by_partition[partition_of(host, snapshot.partitions)].append(host)
    for partition, some in by_partition.items():
        part = open_part(store, snapshot, partition)
        yield from (host for host in some if part and part.has_host(host.encode()))


def seeds_led_outside(crawl: LeasedCrawl, seeds: Sequence[str]) -> Iterator[str]:
    """Yield a line per seed that redirects to a URL outside the scope, so that nothing follows from it."""
    settings, snapshot = crawl.work.config.scope, crawl.snapshot
    hosts = () if settings.include else seed_hosts(crawl.store, snapshot)
    scope = Scope(settings, hosts)
    for seed in seeds[:_CHECKED_SEEDS]:
        entry = lookup(crawl.store, snapshot, seed)
        target = entry.redirect_to if entry and entry.status is Status.REDIRECTED else ""
        exclusion = scope.verdict(target, 0) if target else None
        if exclusion is not None:
            is_other_host = exclusion.setting == "scope.include" and not settings.include
            store = quote(crawl.store.uri)
            typed = f"crawlctl run {quote(target)} --store {store}"
            advice = f"; to crawl it, type `{typed}`" if is_other_host else ""
            reason = f"which is outside the scope ({exclusion})"
            yield f"{shown(seed)} redirects to {shown(target)}, {reason}{advice}"
