"""When a round is over for a task that only waits for a few slow hosts.

A host with a Crawl-delay, or one that answers slowly, can keep a task going for as long as a round may last.
What all others have found meanwhile waits for the next round. So a round ends when each task only waits, and
one of them has found URLs of other hosts than those it waits for. The pages of slow hosts stay due and are
fetched in the next round. Where there is nothing else to do, as on one slow site, the round goes on.

Tasks share nothing but the store. Each says in the journal of the round that it waits or has ended, and
whether it has found work for the next one (state/journal.py). What it says is in the names of empty files, so
one listing every few seconds tells it all. They carry the deadline of the round, by which those of an earlier
run of this round are told apart.

A task does not know the URLs of other partitions, and may take an old one for new. Then there is no work for
others in the next round, and the driver (crawl/rounds.py) has that one wait twice as long.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawlctl.pipeline.state.journal import put_tail, tails, withdraw_tail

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crawlctl.pipeline.fetch.order import FetchOrder
    from crawlctl.pipeline.politeness.polite_queue import Rest
    from crawlctl.pipeline.store.base import Store

_LOOK = 1.0  # seconds between two looks at the task itself,
_LISTING = 3.0  # and at what others say
_SHORT_REST = 3  # what takes no longer than this part of the time that it has waited is waited for
_IDLE_SHARE = 10  # a task is idle when it waits for fewer machines than this part of its connections


def is_tail(rest: Rest, in_flight: int, connections: int) -> bool:
    """Return whether what is left of a task keeps few connections busy."""
    most = max(1, connections // _IDLE_SHARE)
    return in_flight <= most and 0 < rest.machines <= most


def is_over(said: Mapping[int, bool], tasks: int) -> bool:
    """Return whether all tasks wait or have ended, and one of them has found work for the next round."""
    return len(said) >= tasks and any(said.values())


class Tail:
    """The end of a round as one task sees it."""

    def __init__(self, store: Store, order: FetchOrder, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._order = order
        self._clock = clock
        self._since: float | None = None  # when the task came to wait
        self._said: bool | None = None  # what the journal says of it
        self._next_look = 0.0
        self._next_listing = 0.0

    def begin(self) -> None:
        """Take back what an earlier attempt of the task has said: it may have much to do again."""
        order = self._order
        if order.tail is not None and order.tasks > 1:
            for has_work in (False, True):
                withdraw_tail(self._store, order.round, order.partition, order.deadline, has_work=has_work)

    def is_over(self, wait_ahead: Callable[[], float | None], has_work: Callable[[], bool]) -> bool:
        """Return whether the task may end; `wait_ahead` is in seconds, None while it does not only wait."""
        seconds, now = self._order.tail, self._clock()
        if seconds is None or now < self._next_look:
            return False
        self._next_look = now + min(_LOOK, seconds)
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

    def ended(self, *, has_work: bool) -> None:
        """Say that the task has nothing more to do."""
        if self._order.tail is not None:
            self._say(has_work)

    def _all_wait(self, now: float) -> bool:
        order = self._order
        if order.tasks == 1:
            return bool(self._said)
        if now < self._next_listing:
            return False
        self._next_listing = now + _LISTING
        return is_over(tails(self._store, order.round, order.deadline), order.tasks)

    def _say(self, has_work: bool | None) -> None:
        order = self._order
        if has_work == self._said or order.tasks == 1:
            self._said = has_work
            return
        if self._said is not None:
            withdraw_tail(self._store, order.round, order.partition, order.deadline, has_work=self._said)
        if has_work is not None:
            put_tail(self._store, order.round, order.partition, order.deadline, has_work=has_work)
        self._said = has_work
