"""The driver of `crawlctl run`: rounds of fetch, merges and commit.

Each finished step is recorded in the journal of the round. After a kill, the next run continues from the last
step that was finished. The next step follows from the current snapshot and the journal. A process
remembers only how long rounds take (RoundPace) and what it reports.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.crawl.changes.own_rules import settle_settings
from crawlctl.pipeline.crawl.host_wait import HostWait
from crawlctl.pipeline.crawl.indexing import IndexStep, is_merge_due, with_groups
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.crawl.rank_due import judge, rank_changes, unranked_rounds
from crawlctl.pipeline.crawl.ranking import rank_crawl
from crawlctl.pipeline.crawl.reports.left_over import nothing_fetched
from crawlctl.pipeline.crawl.reports.page_counts import counters_of
from crawlctl.pipeline.crawl.reports.round_report import limit_line
from crawlctl.pipeline.crawl.reports.run_report import RunReport, is_idle
from crawlctl.pipeline.crawl.round_pace import RoundPace
from crawlctl.pipeline.crawl.round_plan import plan_round
from crawlctl.pipeline.crawl.round_steps import fetch, kept_files, merge_webdb
from crawlctl.pipeline.crawl.seeding import add_seeds, seeds_led_outside
from crawlctl.pipeline.crawl.upkeep.collecting import collect_after_run
from crawlctl.pipeline.duplicates.grouping_due import is_grouping_due
from crawlctl.pipeline.fetch.save.run_buffer import REACHED, REQUESTS
from crawlctl.pipeline.state.journal import (
    FETCH,
    finished_step,
    index_step,
    partitions_with_runs,
    saved_files,
    webdb_step,
)
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.run_goal import begin_goal, drop_goal, pass_on_goal, read_goal
from crawlctl.pipeline.terminal.counted import by_number
from crawlctl.pipeline.terminal.utc import utc
from crawlctl.pipeline.webdb.census import status_counts
from crawlctl.pipeline.webdb.due import estimate_due, next_due
from crawlctl.pipeline.webdb.part import with_parts
from crawlctl.pipeline.webdb.records import Status
from crawlctl.pipeline.webdb.seed_hosts import seed_hosts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crawlctl.pipeline.crawl.leased_crawl import LeasedCrawl
    from crawlctl.pipeline.crawl.rank_due import RankMode
    from crawlctl.pipeline.crawl.reports.round_report import RoundReport
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

# a counter of a run's outcomes: how many hosts were finished, with all due URLs fetched
HOSTS_DONE = "hosts_done"


def run_rounds(
    work: Work,
    *,
    iterations: int | None,
    partitions: int,
    seeds: Sequence[str] = (),
    changes: Mapping[str, Any] | None = None,
    report: RunReport | None = None,
    done: Callable[[RoundReport], None] = lambda _report: None,
    has_number: bool = True,
    rank: RankMode = "auto",
) -> None:
    """Run this number of `iterations`; if it is None, run rounds until nothing is due. Report each commit.

    `changes` are settings of the crawl that flags have changed, as plain values by key: they become the
    crawl's own first. If a run with the same number was interrupted, only the rounds that it has left are
    run; also if the user gave no number (`has_number`). `report` collects the figures of the run, and keeps
    them after an error.

    `rank` says whether the run ranks at its end: if it is worth it (auto), in any case, or not at all.

    With seeds, an empty store becomes a crawl with `partitions` partitions. If pages were due and none could
    be fetched, the run ends with NothingFetched. SIGTERM raises SystemExit(143) and Ctrl-C KeyboardInterrupt;
    after both the lease is given back.
    """
    report = report or RunReport()
    with leased_crawl(work, "run", partitions=partitions if seeds else None) as crawl:
        began_with = crawl.snapshot.number
        settle_settings(crawl, changes or {})
        if seeds:
            for line in add_seeds(crawl, seeds).lines():
                work.display.say(line)
        driver = _Driver(crawl, report, rank)
        driver.run_all(_rounds_to_run(crawl, iterations, has_number=has_number), done)
        for line in seeds_led_outside(crawl, seeds):
            work.display.say(line)
        drop_goal(crawl.store, crawl.next_round)
        driver.rank_if_due(last=True)
        driver.group_if_due()
        collect_after_run(crawl, began_with)
    error = nothing_fetched(report.counters, report.left, time.time())
    if error is not None:
        raise error


def _rounds_to_run(crawl: LeasedCrawl, iterations: int | None, *, has_number: bool) -> int | None:
    """Return how many rounds to run (None: any number); tell the user if they are the rest of another run."""
    if iterations is None:
        drop_goal(crawl.store, crawl.next_round)
        return None
    interrupted = read_goal(crawl.store, crawl.next_round)
    goal = begin_goal(crawl.store, crawl.next_round, iterations, is_given=has_number)
    left = goal.left(crawl.next_round)
    if goal == interrupted:
        verb = by_number(left, "is", "are")
        rounds = f"{left} of the {goal.asked} rounds of an interrupted run {verb} left"
        crawl.work.display.say(f"{rounds}, and {verb} run now")
    return left


def _nothing_due(snapshot: Snapshot, now: float) -> str:
    if not _urls(snapshot):
        return "the crawl has no URLs yet; add some with `crawlctl run https://…` or `run --seed FILE`"
    due = next_due(snapshot, int(now))
    return f"nothing is due; the next URL is due at {utc(due)}" if due else "nothing is due"


class _Driver:
    """Runs the rounds of one command; it lives as long as the command."""

    def __init__(self, crawl: LeasedCrawl, report: RunReport, rank: RankMode) -> None:
        self._crawl = crawl
        self._report = report
        self._work = crawl.work
        self._store = crawl.store
        self._rank = rank
        self._pace = RoundPace(crawl.work.config.round, crawl.work.config.runner.name)
        self._fetch_time = 0.0  # the fetch time of the round that was planned last, in seconds
        self._hosts = HostWait(report.left, self._pace.longest_wait, crawl.work.display.say)
        # Only `inject` adds seeds, and the lease keeps it out during the run.
        has_rules = crawl.work.config.scope.include
        self._seed_hosts = None if has_rules else sorted(seed_hosts(crawl.store, crawl.snapshot))

    def run_all(self, iterations: int | None, done: Callable[[RoundReport], None]) -> None:
        """Run this number of rounds; None: until nothing is due. Rounds that ask no host do not count."""
        finished = 0
        while iterations is None or finished < iterations:
            report = self.run_round(is_last=finished + 1 == iterations, is_counted=iterations is not None)
            if report is None:
                self._work.display.say(_nothing_due(self._crawl.snapshot, time.time()))
                return
            done(report)
            if report.idle:
                if not self._hosts.wait(report):
                    return
                continue
            self._hosts.round_done()
            self.rank_if_due()
            finished += 1

    def run_round(self, *, is_last: bool = False, is_counted: bool = True) -> RoundReport | None:
        """Run the next round, or the rest of the open round; None if nothing is due.

        `is_counted` says whether the user has given a number of rounds.
        """
        started, before = time.monotonic(), self._crawl.snapshot
        fetched = self._fetch(is_last=is_last, is_counted=is_counted)
        if fetched is None:
            return None
        fetched_at = time.monotonic()
        is_offline = is_unused(before) and nobody_reached(fetched)
        merged = self._crawl.kept_step(
            webdb_step(before.number),
            lambda: merge_webdb(self._work, before, fetched, nobody_reached=is_offline),
        )
        files = self._index((*with_parts(before, merged), *kept_files(fetched)))
        pass_on_goal(self._store, before.round + 1, counts=not (is_offline or is_idle(fetched)))
        after = self._crawl.commit(files, round_number=before.round + 1, fetched=fetched)
        self._pace.round_done(time.monotonic() - fetched_at, counters_of(fetched)[HOSTS_DONE])
        report = self._report.end_round(
            self._store,
            fetched,
            number=after.round,
            urls=_urls(after),
            fresh=_urls(after) - _urls(before),
            seconds=time.monotonic() - started,
            is_offline=is_offline,
        )
        if report.ended_by:
            due = sum(estimate_due(self._store, after, int(time.time())).values())
            limits = replace(self._work.config.round, max_time=Duration(self._fetch_time))
            self._work.display.say(limit_line(report, limits, due))
        return report

    def rank_if_due(self, *, last: bool = False) -> None:
        """Rank if the settings say so after this round, or at the end of the run if it is worth it."""
        settings, snapshot = self._work.config.rank, self._crawl.snapshot
        if not last and not 0 < (settings.every or 0) <= unranked_rounds(snapshot):
            return
        changes = rank_changes(self._store, snapshot)
        verdict = judge(settings, changes, time.time(), last=last, mode=self._rank)
        self._report.ranks = verdict
        self._crawl.remark = f"ranked: {verdict.why}" if verdict.is_due else verdict.why
        if verdict.is_due:
            self._work.display.say(f"ranking: {verdict.why}")
            rank_crawl(self._crawl)

    def group_if_due(self) -> None:
        """Group near duplicates if the index has changed, and enough, since they were grouped."""
        before, config = self._crawl.snapshot, self._work.config
        share, threshold = config.index.group_share, config.parse.near_duplicate
        if config.index.group_duplicates and not is_grouping_due(self._store, before.files, share, threshold):
            return
        with self._crawl.times.step("groups"):
            files = with_groups(self._work, before.files, before.round)
        if files != before.files:
            self._crawl.commit(files, made_by=self._crawl.part_of_command("duplicate groups"))

    def _fetch(self, *, is_last: bool, is_counted: bool) -> tuple[FileEntry, ...] | None:
        """Return the files of the fetch step, kept or new; None if nothing is due."""
        number, config = self._crawl.next_round, self._work.config
        begun = partitions_with_runs(self._store, number)
        self._report.begin_round(saved_files(self._store, number) if begun else ())
        fetched = finished_step(self._store, number, FETCH)
        if fetched is not None:
            self._work.display.say(f"round {number}: pages were fetched before; continuing with the merge")
            return fetched
        if begun:
            self._work.display.say(f"round {number}: continuing where the last run stopped")
        snapshot = self._crawl.snapshot
        self._fetch_time = self._pace.fetch_time(snapshot.round, is_last=is_last)
        plan = plan_round(
            self._store,
            snapshot,
            config.round,
            time.time(),
            begun,
            sitemaps=config.sitemaps,
            fetch_time=self._fetch_time,
        )
        if not plan.shares:
            return None
        tail_wait = None if is_last else self._pace.tail_wait
        # Only the forked runner starts all tasks at once; on others a task would keep another one waiting.
        may_lengthen = not is_counted and config.runner.name == "forked"
        return self._crawl.kept_step(
            FETCH,
            lambda: fetch(self._work, snapshot, plan, self._seed_hosts, tail_wait, may_lengthen=may_lengthen),
        )

    def _index(self, files: tuple[FileEntry, ...]) -> tuple[FileEntry, ...]:
        """Return the files of the round, after a merge of the index if one is due."""
        number, snapshot = self._crawl.next_round, self._crawl.snapshot
        step = IndexStep(files, snapshot.partitions, number)
        if not is_merge_due(self._work, files, number) or not step.plan.partitions:
            return files
        name = index_step(snapshot.number)
        return step.merged_files(self._crawl.kept_step(name, lambda: step.run(self._work)))


def is_unused(snapshot: Snapshot) -> bool:
    """Return whether a crawl has only URLs: none was ever fetched or given up."""
    found = (status_counts(entry.counters) for entry in snapshot.files_of(WEBDB))
    return {name for counts in found for name in counts} <= {Status.UNFETCHED.name.lower()}


def nobody_reached(fetched: Sequence[FileEntry]) -> bool:
    """Return whether a round has asked hosts and could connect to none.

    In a new crawl the cause is then usually on our side: no network, a wrong proxy, a private address that is
    not allowed, a misspelt seed. So its pages stay due, and the next run requests them at once. In an older
    crawl a host may be gone forever, and then its pages must be given up at some time.
    """
    counters = counters_of(fetched)
    return counters[REQUESTS] > 0 and counters[REACHED] == 0


def _urls(snapshot: Snapshot) -> int:
    return sum(entry.records for entry in snapshot.files_of(WEBDB))
