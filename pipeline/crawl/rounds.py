"""The driver of `crawlctl run`: rounds of fetch, merges and commit.

Each finished step is recorded in the journal of the round. After a kill, the next run continues from the last
step that was finished. The next step follows from the current snapshot and the journal. A process
remembers only how long to wait for slow hosts (TailPace), what it reports, and whether it has ranked.
"""

from __future__ import annotations

import time
from itertools import count, islice
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.indexing import IndexStep, is_merge_due, with_groups
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.crawl.ranking import is_ranking_due, rank_crawl
from crawlctl.pipeline.crawl.reports.left_over import FailedPages, LeftHosts
from crawlctl.pipeline.crawl.reports.round_report import RoundReport
from crawlctl.pipeline.crawl.round_plan import plan_round
from crawlctl.pipeline.crawl.round_steps import fetch, kept_files, merge_webdb
from crawlctl.pipeline.crawl.seeding import add_seeds
from crawlctl.pipeline.crawl.tail_pace import TailPace
from crawlctl.pipeline.duplicates.order import are_grouped
from crawlctl.pipeline.state.journal import (
    FETCH,
    finished_step,
    index_step,
    partitions_with_runs,
    webdb_step,
)
from crawlctl.pipeline.state.kinds import FRESH, OUTCOMES, WEBDB
from crawlctl.pipeline.terminal.utc import utc
from crawlctl.pipeline.webdb.due import next_due
from crawlctl.pipeline.webdb.part import with_parts
from crawlctl.pipeline.webdb.seed_hosts import seed_hosts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crawlctl.pipeline.crawl.leased_crawl import LeasedCrawl
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

# Counters of a run's outcomes.
PAGES = "pages"  # outcomes for which a host was asked
LEFT = "left"  # URLs that were due and not fetched
HOSTS_DONE = "hosts_done"  # hosts of which everything due was fetched


def run_rounds(
    work: Work,
    *,
    iterations: int | None,
    partitions: int,
    seeds: Sequence[str] = (),
    done: Callable[[RoundReport], None] = lambda _report: None,
) -> None:
    """Run this number of rounds, or with None run rounds until nothing is due; report each commit.

    With seeds, an empty store becomes a crawl of that many partitions. SIGTERM raises SystemExit(143) and
    Ctrl-C KeyboardInterrupt; after both the lease is given back.
    """
    with leased_crawl(work, "run", partitions=partitions if seeds else None) as crawl:
        if seeds and (new := add_seeds(crawl, seeds).new):
            work.display.say(f"injected {new} new URLs")
        driver = _Driver(crawl)
        for number in islice(count(1), iterations):
            report = driver.run_round(is_last=number == iterations)
            if report is None:
                work.display.say(_nothing_due(crawl.snapshot, time.time()))
                break
            done(report)
            if report.idle:
                work.display.say(f"round {report.round} brought nothing; what is due waits for its hosts")
                break
            driver.rank_if_due()
        driver.rank_if_due(last=True)
        driver.group_if_due()
        for line in (*driver.failed.lines(), *driver.left.lines(time.time())):
            work.display.say(line)


def _nothing_due(snapshot: Snapshot, now: float) -> str:
    if not _urls(snapshot):
        return "the crawl has no URLs yet; add some with `crawlctl inject FILE` or `crawlctl run --seed FILE`"
    due = next_due(snapshot, int(now))
    return f"nothing is due; the next URL is due at {utc(due)}" if due else "nothing is due"


class _Driver:
    """Runs the rounds of one command; it lives as long as the command."""

    def __init__(self, crawl: LeasedCrawl) -> None:
        self._crawl = crawl
        self._work = crawl.work
        self._store = crawl.store
        self._ranked = False
        self._pace = TailPace(float(crawl.work.config.round.tail))
        self.failed = FailedPages()
        self.left = LeftHosts()
        # Only `inject` adds seeds, and the lease keeps it out during the run.
        has_rules = crawl.work.config.scope.include
        self._seed_hosts = None if has_rules else sorted(seed_hosts(crawl.store, crawl.snapshot))

    def run_round(self, *, is_last: bool = False) -> RoundReport | None:
        """Run the next round, or the rest of the open round; None if nothing is due."""
        started, before = time.monotonic(), self._crawl.snapshot
        fetched = self._fetch(None if is_last else self._pace.tail)
        if fetched is None:
            return None
        fetched_at = time.monotonic()
        merged = self._crawl.kept_step(
            webdb_step(before.number), lambda: merge_webdb(self._work, before, fetched)
        )
        files = self._index((*with_parts(before, merged), *kept_files(fetched)))
        after = self._crawl.commit(files, round_number=before.round + 1)
        self._pace.round_done(time.monotonic() - fetched_at, _counted(fetched, HOSTS_DONE))
        left = left_at_the_end(fetched)
        self.failed.take(fetched)
        self.left.take(self._store, fetched, left)
        return RoundReport(
            after.round,
            urls=_urls(after),
            fetched=_counted(fetched, PAGES),
            fresh=_urls(after) - _urls(before),
            seconds=time.monotonic() - started,
            idle=not any(entry.records for entry in fetched if entry.kind in (OUTCOMES, FRESH)),
            left=left,
        )

    def rank_if_due(self, *, last: bool = False) -> None:
        """Rank the pages if the settings say so after this round, or at the end of the run."""
        if is_ranking_due(self._work, self._crawl.snapshot, last=last):
            rank_crawl(self._crawl)
            self._ranked = True

    def group_if_due(self) -> None:
        """Group near duplicates if the index or the ranks have changed since they were grouped."""
        before = self._crawl.snapshot
        if not self._ranked and are_grouped(self._store, before.files):
            return
        files = with_groups(self._work, before.files, before.round)
        if files != before.files:
            self._crawl.commit(files)

    def _fetch(self, tail: float | None) -> tuple[FileEntry, ...] | None:
        """Return the files of the fetch step, kept or new; None if nothing is due."""
        number, config = self._crawl.next_round, self._work.config
        fetched = finished_step(self._store, number, FETCH)
        if fetched is not None:
            self._work.display.say(f"round {number}: pages were fetched before; continuing with the merge")
            return fetched
        begun = partitions_with_runs(self._store, number)
        if begun:
            self._work.display.say(f"round {number}: continuing where the last run stopped")
        snapshot = self._crawl.snapshot
        plan = plan_round(self._store, snapshot, config.round, time.time(), begun, sitemaps=config.sitemaps)
        if not plan.shares:
            return None
        return self._crawl.kept_step(FETCH, lambda: fetch(self._work, snapshot, plan, self._seed_hosts, tail))

    def _index(self, files: tuple[FileEntry, ...]) -> tuple[FileEntry, ...]:
        """Return the files of the round, after a merge of the index if one is due."""
        number, snapshot = self._crawl.next_round, self._crawl.snapshot
        step = IndexStep(files, snapshot.partitions, number)
        if not is_merge_due(self._work, files, number) or not step.plan.partitions:
            return files
        name = index_step(snapshot.number)
        return step.merged_files(self._crawl.kept_step(name, lambda: step.run(self._work)))


def left_at_the_end(fetched: Iterable[FileEntry]) -> int:
    """Return how many URLs were due and not fetched when the tasks of a round ended.

    Each attempt at a task counts from the start, so only the last run of a partition counts: the URLs that a
    stopped attempt left were fetched by the next attempt.
    """
    left = {entry.partition: entry.counters.get(LEFT, 0) for entry in fetched if entry.kind == OUTCOMES}
    return sum(left.values())


def _counted(fetched: Iterable[FileEntry], counter: str) -> int:
    return sum(entry.counters.get(counter, 0) for entry in fetched if entry.kind == OUTCOMES)


def _urls(snapshot: Snapshot) -> int:
    return sum(entry.records for entry in snapshot.files_of(WEBDB))
