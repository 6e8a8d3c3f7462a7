"""One scheme of a host: its URLs that wait, its robots.txt, and how it is doing.

http and https are two services on one machine. They share its time, but where one of them does not answer
the other one may, so failures, back-off and robots.txt are counted for each.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from crawlctl.pipeline.politeness.handout import Fate, LeftOver
from crawlctl.pipeline.politeness.host_state import SchemeState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.config.settings import PolitenessSettings
    from crawlctl.pipeline.politeness.host_state import KnownRobots


class HostScheme:
    """The URLs of one scheme, the best first, and whether they can be asked for."""

    def __init__(self, state: SchemeState, robots: KnownRobots | None, paused_until: float) -> None:
        self.robots = robots
        self.paused_until = paused_until
        self.failures = state.failures
        self.page_errors = state.page_errors
        self.robots_tries = state.robots_tries
        self.pages = state.pages
        self.robots_asked = False  # and not answered yet
        self.closed = ""  # why nothing more is asked in this round,
        self.fate = Fate.DUE  # and what that means for the rest
        self._urls: list[tuple[float, int, str]] = []  # a heap of (-priority, order of arrival, URL)
        self._deferred: list[LeftOver] = []

    def __len__(self) -> int:
        return len(self._urls)

    @property
    def open(self) -> bool:
        """Whether there is something to ask for when the time has come."""
        return bool(self._urls) and not self.closed and not self.robots_asked

    @property
    def has_left(self) -> bool:
        """Whether anything is queued or was put off."""
        return bool(self._urls or self._deferred)

    @property
    def turn(self) -> tuple[float, int]:
        """The priority, negated, and the arrival of the best URL; the lowest turn comes first."""
        return self._urls[0][:2]

    def add(self, url: str, priority: float, arrival: int) -> None:
        """Queue a URL."""
        heappush(self._urls, (-priority, arrival, url))

    def pop(self) -> str:
        """Take the best URL."""
        return heappop(self._urls)[2]

    def defer(self, url: str, reason: str, fate: Fate) -> None:
        """Leave a URL that was taken: its robots.txt cannot be had, or its answer came too slowly."""
        self._deferred.append(LeftOver(url, reason, fate))

    def close(self, reason: str, fate: Fate) -> None:
        """Ask for nothing more in this round."""
        self.closed = reason
        self.fate = fate

    def recover(self) -> None:
        """Take note of an answer that is no trouble."""
        self.failures = 0
        self.page_errors = 0

    def is_only_a_page(self, settings: PolitenessSettings) -> bool:
        """Count a page's error, and tell whether it is no more than that.

        It is more where so many pages in a row have failed that the host itself must be unwell, and where the
        host was down when the round began: then the first error is enough to leave it.
        """
        self.page_errors += 1
        is_row = self.page_errors % settings.max_page_errors == 0
        return not is_row and self.failures < settings.max_failures

    def left_over(self, reason: str) -> Iterator[LeftOver]:
        """Yield what was not handed out, for the reason of the host where the scheme has none."""
        yield from self._deferred
        for _, _, url in sorted(self._urls):
            yield LeftOver(url, self.closed or reason, self.fate)

    def state(self, host_ready_at: float) -> SchemeState:
        """Return what is to be remembered."""
        return SchemeState(
            not_before=max(host_ready_at, self.paused_until),
            failures=self.failures,
            page_errors=self.page_errors,
            robots_tries=self.robots_tries,
            pages=self.pages,
        )
