"""The driver: rounds of fetch, merges and commit, each step kept in the journal of its round.

The run after one that was killed goes on from the last thing that was finished. Nothing is decided by what a
process remembers: which step comes next follows from the current snapshot and the journal.
"""

from __future__ import annotations

import time
from itertools import count, islice
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.grouping import with_groups
from crawlctl.pipeline.crawl.indexing import IndexStep, is_due
from crawlctl.pipeline.crawl.ranking import is_due as is_rank_due
from crawlctl.pipeline.crawl.ranking import rank_snapshot
from crawlctl.pipeline.crawl.reports.left_over import FailedPages, LeftHosts
from crawlctl.pipeline.crawl.reports.round_report import RoundReport
from crawlctl.pipeline.crawl.round_plan import plan_round
from crawlctl.pipeline.crawl.round_steps import fetch, kept_files, merge
from crawlctl.pipeline.duplicates.order import are_grouped
from crawlctl.pipeline.errors import NotACrawl
from crawlctl.pipeline.fetch.select.survey import seed_hosts
from crawlctl.pipeline.index.merge.order import with_index
from crawlctl.pipeline.processes.signals import exit_on_signals
from crawlctl.pipeline.state.journal import (
    FETCH,
    finish_step,
    finished_step,
    index_step,
    partitions_with_runs,
    webdb_step,
)
from crawlctl.pipeline.state.lease import hold_lease
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.webdb.merge.update import inject
from crawlctl.pipeline.webdb.part import KIND, with_parts
from crawlctl.pipeline.webdb.row_files import FRESH, OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crawlctl.pipeline.crawl.round_steps import Crew
    from crawlctl.pipeline.state.lease import Lease
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

# Counters of a run's outcomes: those reached by asking a host, URLs that were due and not asked for, and
# hosts that were asked for all that was due of them.
PAGES = "pages"
LEFT = "left"
HOSTS_DONE = "hosts_done"


def run_rounds(
    crew: Crew,
    *,
    iterations: int | None,
    partitions: int,
    seeds: Sequence[str] = (),
    done: Callable[[RoundReport], None] = lambda _report: None,
) -> None:
    """Run so many rounds, or with None as many as it takes until nothing is due; report each when committed.

    With seeds an empty store becomes a crawl of so many partitions. SIGTERM raises SystemExit(143) and Ctrl-C
    KeyboardInterrupt, after which the store is free for the next run.
    """
    if not seeds:
        load_current(crew.store)  # where there is no crawl, leave not even a lease behind
    with exit_on_signals(), hold_lease(crew.store, crew.config.lease.ttl, "run") as lease:
        snapshot = _seeded(crew, lease, seeds, partitions) if seeds else load_current(crew.store)
        driver = _Driver(crew, lease, snapshot)
        for number in islice(count(1), iterations):
            report = driver.run_round(is_last=number == iterations)
            if report is None:
                crew.display.say("nothing is due")
                break
            done(report)
            if report.idle:
                crew.display.say(f"round {report.round} brought nothing; what is due waits for its hosts")
                break
            driver.rank_if_due()
        driver.rank_if_due(last=True)
        driver.group_if_due()
        for line in (*driver.failed.lines(), *driver.left.lines(time.time())):
            crew.display.say(line)


def _seeded(crew: Crew, lease: Lease, seeds: Sequence[str], partitions: int) -> Snapshot:
    """Return the current snapshot, with the seeds in it."""
    try:
        snapshot = load_current(crew.store)
    except NotACrawl:
        snapshot = create_crawl(crew.store, partitions)
    injected = inject(crew.store, snapshot, seeds, int(time.time()))
    if injected.files == snapshot.files:
        return snapshot
    lease.check()
    crew.display.say(f"injected {injected.new} new URLs")
    return commit(crew.store, snapshot, files=injected.files, round_number=snapshot.round)


class TailPace:
    """How long a round waits for slow hosts while others have found work (fetch/loop/round_tail.py).

    At least as long as all other steps of a round take, or ending the fetch early would save no time. It
    doubles after each round in which no host was done, so that a few slow hosts do not make many tiny rounds.
    """

    def __init__(self, shortest: float) -> None:
        self.tail = shortest
        self._shortest = shortest

    def round_done(self, overhead: float, hosts_done: int) -> None:
        """Take note of a round: the seconds after its fetching, and the hosts that nothing was left of."""
        shortest = max(self._shortest, overhead)
        self.tail = shortest if hosts_done else max(2 * self.tail, shortest)


class _Driver:
    """A run at work: the snapshot it has reached."""

    def __init__(self, crew: Crew, lease: Lease, snapshot: Snapshot) -> None:
        self._crew = crew
        self._store = crew.store
        self._lease = lease
        self._snapshot = snapshot
        self._ranked = False
        self._pace = TailPace(float(crew.config.round.tail))
        self.failed = FailedPages()
        self.left = LeftHosts()
        # Seeds come by `inject`, which the lease keeps out meanwhile.
        self._seed_hosts = None if crew.config.scope.include else sorted(seed_hosts(crew.store, snapshot))

    def run_round(self, *, is_last: bool = False) -> RoundReport | None:
        """Run the next round, or the rest of one that was begun; None where nothing is due."""
        started, before = time.monotonic(), self._snapshot
        fetched = self._fetch(None if is_last else self._pace.tail)
        if fetched is None:
            return None
        fetched_at = time.monotonic()
        merged = self._merge(fetched)
        files = self._index((*with_parts(before, merged), *kept_files(fetched)))
        self._lease.check()
        self._snapshot = commit(self._store, before, files=files, round_number=before.round + 1)
        self._pace.round_done(time.monotonic() - fetched_at, _counted(fetched, HOSTS_DONE))
        left = left_at_the_end(fetched)
        self.failed.take(fetched)
        self.left.take(self._store, fetched, left)
        return RoundReport(
            self._snapshot.round,
            urls=_urls(self._snapshot),
            fetched=_counted(fetched, PAGES),
            fresh=_urls(self._snapshot) - _urls(before),
            seconds=time.monotonic() - started,
            idle=not any(entry.records for entry in fetched if entry.kind in (OUTCOMES, FRESH)),
            left=left,
        )

    def rank_if_due(self, *, last: bool = False) -> None:
        """Rank what the rounds have found, if it is time to."""
        if is_rank_due(self._crew, self._snapshot, last=last):
            self._snapshot = rank_snapshot(self._crew, self._lease, self._snapshot)
            self._ranked = True

    def group_if_due(self) -> None:
        """Group near duplicates, if the index or the ranks have changed since."""
        before = self._snapshot
        if not self._ranked and are_grouped(self._store, before.files):
            return
        files = with_groups(self._crew, before.files, before.round)
        if files != before.files:
            self._lease.check()
            self._snapshot = commit(self._store, before, files=files, round_number=before.round)

    def _fetch(self, tail: float | None) -> tuple[FileEntry, ...] | None:
        number = self._snapshot.round + 1
        fetched = finished_step(self._store, number, FETCH)
        if fetched is not None:
            self._crew.display.say(f"round {number}: pages were fetched before, going on with the merge")
            return fetched
        begun = partitions_with_runs(self._store, number)
        if begun:
            self._crew.display.say(f"round {number}: going on where the last run stopped")
        config = self._crew.config
        plan = plan_round(
            self._store, self._snapshot, config.round, time.time(), begun, sitemaps=config.sitemaps
        )
        if not plan.shares:
            return None
        fetched = fetch(self._crew, self._snapshot, plan, self._seed_hosts, tail)
        self._lease.check()
        finish_step(self._store, number, FETCH, fetched)
        return fetched

    def _merge(self, fetched: tuple[FileEntry, ...]) -> tuple[FileEntry, ...]:
        number, step = self._snapshot.round + 1, webdb_step(self._snapshot.number)
        merged = finished_step(self._store, number, step)
        if merged is None:
            merged = merge(self._crew, self._snapshot, fetched)
            self._lease.check()
            finish_step(self._store, number, step, merged)
        return merged

    def _index(self, files: tuple[FileEntry, ...]) -> tuple[FileEntry, ...]:
        """Return the files of the round with those of the index after its merge, if one is due."""
        number, name = self._snapshot.round + 1, index_step(self._snapshot.number)
        step = IndexStep(files, self._snapshot.partitions, number)
        if not is_due(self._crew, files, number) or not step.plan.partitions:
            return files
        merged = finished_step(self._store, number, name)
        if merged is None:
            merged = step.run(self._crew)
            self._lease.check()
            finish_step(self._store, number, name, merged)
        return with_index(files, step.changed, merged)


def left_at_the_end(fetched: Iterable[FileEntry]) -> int:
    """Return how many URLs were due and not asked for when the tasks of a round ended.

    Each attempt at a task counts anew, so the last run of a partition knows: what a stopped attempt has left
    was for the next one to do.
    """
    left = {entry.partition: entry.counters.get(LEFT, 0) for entry in fetched if entry.kind == OUTCOMES}
    return sum(left.values())


def _counted(fetched: Iterable[FileEntry], counter: str) -> int:
    return sum(entry.counters.get(counter, 0) for entry in fetched if entry.kind == OUTCOMES)


def _urls(snapshot: Snapshot) -> int:
    return sum(entry.records for entry in snapshot.files_of(KIND))
