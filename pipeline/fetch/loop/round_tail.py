"""Ends a round early when all tasks only wait for a few slow hosts.

A host with a long Crawl-delay, or with slow answers, can keep a task busy for as long as a round may last.
Meanwhile all newly found URLs wait for the next round. So a round ends when every task only waits, and at
least one task has found URLs on hosts that it does not wait for. The pages of slow hosts stay due and are
fetched in the next round. If there is nothing else to do, as when the crawl is one slow site, the round goes
on. Tasks do not wait for hosts that fail. The back-off of these hosts continues in the next round, while
other hosts are asked.

Tasks share only the store. When a task waits or has ended, it writes a tail report to the journal of the
round, which also says whether the task has found work for the next round (state/journal.py). A report is an
empty file whose name says all of this, so one listing now and then shows all reports. The name contains
the deadline of the round: a second attempt at the round has another deadline, and ignores earlier reports.

A task does not know the URLs of other partitions, so it may take an old URL for a new one. Then the next
round may finish no host, and the driver lets the round after it wait twice as long (crawl/round_pace.py).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawlctl.pipeline.state.journal import put_tail_report, tail_reports, withdraw_tail_report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crawlctl.pipeline.fetch.order import FetchOrder
    from crawlctl.pipeline.politeness.polite_queue import Rest
    from crawlctl.pipeline.store.base import Store

_LOOK = 1.0  # seconds between two checks of the task itself
# Seconds between two listings of the reports of other tasks: an eighth of the time for which the task has
# waited, so that a round lasts only a little longer because of it.
_FIRST_LISTING, _LISTING = 0.25, 3.0
_LISTING_SHARE = 8
# A task whose remaining work takes at most 1/3 of the tail wait does not report: it finishes this work.
_SHORT_REST = 3
_IDLE_SHARE = 10  # a task is in its tail if it uses at most 1/10 of its connections


def is_tail(rest: Rest, connections: int) -> bool:
    """Return whether a task is in its tail: what it has left to do keeps only few connections busy."""
    most = max(1, connections // _IDLE_SHARE)
    return rest.in_flight <= most and 0 < rest.machines <= most


def is_over(said: Mapping[int, bool], tasks: int) -> bool:
    """Return whether all tasks wait or have ended, and one has found work; `said` is by partition."""
    return len(said) >= tasks and any(said.values())


class RoundTail:
    """Decides for one task whether the round ends early, and reports its state to the other tasks."""

    def __init__(self, store: Store, order: FetchOrder, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._order = order
        self._clock = clock
        self._since: float | None = None  # since when the task only waits
        self._said: bool | None = None  # what the task has reported: has_work, None for no report
        self._said_at = 0.0  # since when there is a report
        self._next_look = 0.0
        self._next_listing = 0.0

    def begin(self) -> None:
        """Withdraw the reports of an earlier attempt: this attempt may have much to do again."""
        order = self._order
        if order.tail_wait is not None and order.tasks > 1:
            for has_work in (False, True):
                withdraw_tail_report(
                    self._store, order.round, order.partition, order.deadline, has_work=has_work
                )

    def is_over(
        self,
        wait_ahead: Callable[[], float | None],
        has_work: Callable[[], bool],
        only_fails: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Return whether the task may end; `wait_ahead` returns seconds, None while the task is busy.

        `only_fails` returns whether all hosts that are left have failed. The task does not wait for such
        hosts.
        """
        seconds, now = self._order.tail_wait, self._clock()
        if seconds is None or now < self._next_look:
            return False
        self._next_look = now + min(_LOOK, seconds)
        if only_fails():
            self._say(has_work())
            return self._all_wait(now)
        ahead = wait_ahead()
        if ahead is None:
            self._since = None
            self._say(None)
            return False
        self._since = now if self._since is None else self._since
        if now - self._since < seconds or ahead <= seconds / _SHORT_REST:
            self._say(None)
            return False
        self._say(has_work())
        return self._all_wait(now)

    @property
    def pause(self) -> float:
        """The seconds until the next check: fewer if the task only waits for the reports of other tasks."""
        return _LOOK if self._said is None else min(_LOOK, self._until_listing)

    @property
    def _until_listing(self) -> float:
        waited = self._clock() - self._said_at
        return min(_LISTING, max(_FIRST_LISTING, waited / _LISTING_SHARE))

    def ended(self, *, has_work: bool) -> None:
        """Report that the task has nothing more to do."""
        if self._order.tail_wait is not None:
            self._say(has_work)

    def _all_wait(self, now: float) -> bool:
        order = self._order
        if order.tasks == 1:
            return bool(self._said)
        if now < self._next_listing:
            return False
        self._next_listing = now + self._until_listing
        self._next_look = now + self.pause
        return is_over(tail_reports(self._store, order.round, order.deadline), order.tasks)

    def _say(self, has_work: bool | None) -> None:
        order = self._order
        if self._said is None:
            self._said_at = self._clock()
        if has_work == self._said or order.tasks == 1:
            self._said = has_work
            return
        if self._said is not None:
            withdraw_tail_report(
                self._store, order.round, order.partition, order.deadline, has_work=self._said
            )
        if has_work is not None:
            put_tail_report(self._store, order.round, order.partition, order.deadline, has_work=has_work)
        self._said = has_work
