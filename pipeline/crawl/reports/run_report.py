"""RunReport: the results of a run from its first round to its end, however it ended.

The driver adds each round. At the end the command closes the report: it asks the store what is left, and what
an interrupted round has saved. All figures come from manifests, host tables and the journal; no WebDB part is
read.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.crawl.reports.left_over import LeftHosts
from crawlctl.pipeline.crawl.reports.page_counts import counters_of, page_counts, received
from crawlctl.pipeline.crawl.reports.round_report import RoundReport
from crawlctl.pipeline.fetch.loop.fetch_loop import ENDED_BY
from crawlctl.pipeline.fetch.save.run_buffer import FOLLOWED
from crawlctl.pipeline.state.journal import saved_files
from crawlctl.pipeline.state.kinds import FRESH, OUTCOMES, WEBDB
from crawlctl.pipeline.state.run_goal import read_goal
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.webdb.census import status_counts
from crawlctl.pipeline.webdb.due import due_counts, next_due
from crawlctl.pipeline.webdb.host_table import read_summaries
from crawlctl.pipeline.webdb.records import LIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.crawl.rank_due import RankVerdict
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.run_goal import Goal
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.due import DueCounts

LEFT = "left"  # a counter of a run's outcomes: how many URLs were due and not fetched
_LIVE = frozenset(status.name.lower() for status in LIVE)
_MOVING = (OUTCOMES, FRESH)  # kinds of files that change the WebDB
_KEPT_HOSTS = 100_000  # the most hosts whose pages are counted per host


@dataclass(frozen=True)
class OpenRound:
    """A round that was begun and not committed; the names are those of `--json`."""

    round: int
    pages: int  # how many pages are fetched and saved
    urls: int  # how many URLs are handled, including those without a page
    found: int = 0  # how many of them the round has found itself

    def without_handled(self, due: DueCounts) -> DueCounts:
        """Return the due URLs minus those handled by the open round, which the snapshot does not know yet."""
        return replace(due, now=max(0, due.now - (self.urls - self.found)))


@dataclass(frozen=True)
class RunEnd:
    """What the store knows when a run has ended."""

    next_round: int  # the round that is open, or would be the next
    urls: int  # how many URLs are known
    due: DueCounts
    next_due: int | None  # when the next URL falls due, in UTC seconds
    open_round: OpenRound | None
    goal: Goal | None  # the goal of `--iterations`, if it was not reached
    has_pages: bool = True  # whether any page can be searched


class RunReport:
    """The figures of one run, kept until it ends; `hosts` counts its pages with content per host.

    `robots_retry` is how many seconds later a robots.txt that failed is requested again.
    """

    def __init__(self, robots_retry: float = 0.0) -> None:
        self.has_begun = False  # whether the run got the lease of the crawl
        self.rounds: list[RoundReport] = []
        self.counters: Counter[str] = Counter()
        self.hosts: Counter[str] = Counter()
        self.left = LeftHosts(robots_retry)
        self.ranks: RankVerdict | None = None  # whether the run has ranked, and why
        self.earlier = 0  # how many pages of the first round an earlier run had saved
        self._earlier_files: frozenset[str] = frozenset()

    def begin_round(self, saved: Iterable[FileEntry]) -> None:
        """Begin a round; an earlier run may have saved files of it."""
        self.has_begun = True
        self._earlier_files = frozenset(entry.name for entry in saved)
        self.left.begin_round()

    def end_round(
        self,
        store: Store,
        fetched: Sequence[FileEntry],
        *,
        number: int,
        urls: int,
        fresh: int,
        seconds: float,
        is_offline: bool = False,
    ) -> RoundReport:
        """Add a round that is committed, and return its figures."""
        mine = self._own(fetched)
        counters = counters_of(mine)
        pages = page_counts(counters)
        self.left.urls = left_at_the_end(fetched)
        self._count(store, mine, counters, is_offline=is_offline)
        report = RoundReport(
            number,
            urls=urls,
            fetched=pages.fetched,
            fresh=fresh,
            seconds=seconds,
            idle=is_offline or is_idle(fetched),
            is_offline=is_offline,
            left=self.left.urls,
            pages=pages,
            bytes=received(counters),
            earlier=_all_pages(fetched) - _all_pages(mine),
            ended_by=tuple(sorted(limits_reached(counters))),
        )
        self.earlier += report.earlier
        self.rounds.append(report)
        return report

    def close(self, store: Store) -> RunEnd:
        """Return what is left to do, and count the pages that an interrupted round has saved."""
        snapshot = load_current(store)
        number, now = snapshot.round + 1, int(time.time())
        saved = saved_files(store, number)
        mine = self._own(saved)
        self._count(store, mine, counters_of(mine))
        self.earlier += _all_pages(saved) - _all_pages(mine)
        opened, due = open_round(number, saved), due_counts(store, snapshot, now)
        return RunEnd(
            number,
            sum(entry.records for entry in snapshot.files_of(WEBDB)),
            opened.without_handled(due) if opened else due,
            next_due(snapshot, now),
            opened,
            read_goal(store, number),
            not _LIVE.isdisjoint(
                name for entry in snapshot.files_of(WEBDB) for name in status_counts(entry.counters)
            ),
        )

    def _own(self, files: Iterable[FileEntry]) -> list[FileEntry]:
        return [entry for entry in files if entry.name not in self._earlier_files]

    def _count(
        self,
        store: Store,
        files: Iterable[FileEntry],
        counters: Counter[str],
        *,
        is_offline: bool = False,
    ) -> None:
        self.counters.update(counters)
        for host, row in read_summaries(store, files):
            self.left.see(host, row, is_offline=is_offline)
            if row.saved_pages and (host in self.hosts or len(self.hosts) < _KEPT_HOSTS):
                self.hosts[host] += row.saved_pages


def is_idle(fetched: Iterable[FileEntry]) -> bool:
    """Return whether a fetch step has changed nothing."""
    return not any(entry.records for entry in fetched if entry.kind in _MOVING)


def open_round(number: int, saved: Sequence[FileEntry]) -> OpenRound | None:
    """Return the round whose runs are `saved`, None if there are none."""
    urls = sum(entry.records for entry in saved if entry.kind == OUTCOMES)
    return OpenRound(number, _all_pages(saved), urls, counters_of(saved)[FOLLOWED]) if saved else None


def left_at_the_end(fetched: Iterable[FileEntry]) -> int:
    """Return how many URLs were due and not fetched when the tasks of a round ended.

    Each attempt at a task counts from the start, so only the last run of a partition counts: the URLs that a
    stopped attempt left were fetched by the next attempt.
    """
    left = {entry.partition: entry.counters.get(LEFT, 0) for entry in fetched if entry.kind == OUTCOMES}
    return sum(left.values())


def _all_pages(files: Iterable[FileEntry]) -> int:
    return page_counts(counters_of(files)).fetched


def limits_reached(counters: Counter[str]) -> list[str]:
    """Return the settings whose limits have ended tasks of a round."""
    return [name.removeprefix(ENDED_BY) for name in counters if name.startswith(ENDED_BY)]
