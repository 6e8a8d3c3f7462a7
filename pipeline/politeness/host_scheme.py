"""One scheme (http or https) of a host: its waiting URLs, its robots.txt, its failures.

http and https are two services on one machine. They share the crawl delay. But if one service does not
answer, the other service may. So failures, back-off and robots.txt are kept per scheme.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from crawlctl.pipeline.politeness.handout import Fate, LeftOver
from crawlctl.pipeline.politeness.host_state import SchemeState

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawlctl.pipeline.config.settings import PolitenessSettings
    from crawlctl.pipeline.politeness.host_state import KnownRobots


class HostScheme:
    """The waiting URLs of one scheme in one round, by priority, and whether they can be requested."""

    def __init__(self, state: SchemeState, robots: KnownRobots | None, paused_until: float) -> None:
        self.robots = robots
        self.paused_until = paused_until
        self.failures = state.failures
        self.page_errors = state.page_errors
        self.robots_tries = state.robots_tries
        self.pages = state.pages
        self.robots_asked = False  # robots.txt is requested and not answered yet
        self.closed = ""  # why nothing more is requested in this round; empty if it is
        self.fate = Fate.DUE  # the fate of the URLs that wait when the scheme is closed
        self._urls: list[tuple[float, int, str]] = []  # a heap of (-priority, order of arrival, URL)
        self._deferred: list[LeftOver] = []

    def __len__(self) -> int:
        return len(self._urls)

    @property
    def open(self) -> bool:
        """Whether a request can start when the pause is over."""
        return bool(self._urls) and not self.closed and not self.robots_asked

    @property
    def has_left(self) -> bool:
        """Whether URLs wait or were deferred."""
        return bool(self._urls or self._deferred)

    @property
    def turn(self) -> tuple[float, int]:
        """The negated priority and the arrival of the best URL; the lowest turn comes first."""
        return self._urls[0][:2]

    def add(self, url: str, priority: float, arrival: int) -> None:
        """Queue a URL."""
        heappush(self._urls, (-priority, arrival, url))

    def pop(self) -> str:
        """Remove and return the best URL."""
        return heappop(self._urls)[2]

    def withdraw(self, urls: Collection[str]) -> list[str]:
        """Remove and return those of these URLs that wait."""
        found = [waiting[2] for waiting in self._urls if waiting[2] in urls]
        self._urls = [waiting for waiting in self._urls if waiting[2] not in urls]
        heapify(self._urls)
        return found

    def defer(self, url: str, reason: str, fate: Fate) -> None:
        """Leave over a URL that was taken: its robots.txt cannot be read, or its request was stopped."""
        self._deferred.append(LeftOver(url, reason, fate))

    def close(self, reason: str, fate: Fate) -> None:
        """Request nothing more in this round."""
        self.closed = reason
        self.fate = fate

    def recover(self) -> None:
        """Record a normal answer."""
        self.failures = 0
        self.page_errors = 0

    def is_only_a_page(self, settings: PolitenessSettings) -> bool:
        """Count an error of a page; return whether only the page failed, and not the host.

        The host failed if `max_page_errors` pages in a row have failed. It also failed if it was down when
        the round began; then the first error is enough to leave it.
        """
        self.page_errors += 1
        is_row = self.page_errors % settings.max_page_errors == 0
        return not is_row and self.failures < settings.max_failures

    def left_over(self, reason: str) -> Iterator[LeftOver]:
        """Yield the URLs that were not handed out; `reason` is used if the scheme itself has none."""
        yield from self._deferred
        for _, _, url in sorted(self._urls):
            yield LeftOver(url, self.closed or reason, self.fate)

    def state(self, host_ready_at: float) -> SchemeState:
        """Return the state of the scheme that is saved for the next round."""
        return SchemeState(
            not_before=max(host_ready_at, self.paused_until),
            failures=self.failures,
            page_errors=self.page_errors,
            robots_tries=self.robots_tries,
            pages=self.pages,
        )
