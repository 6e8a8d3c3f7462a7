"""The URLs of one host that wait to be fetched, and whether the host may be asked now."""

from __future__ import annotations

from enum import Enum
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from crawlctl.pipeline.net.hoststate import HostState, KnownRobots
from crawlctl.pipeline.net.pacing import backoff_after, delay_between, is_trouble, trouble_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.config.politeness import PolitenessSettings
    from crawlctl.pipeline.net.robots import Robots


class Action(Enum):
    """What is to be done with a URL that is handed out."""

    ROBOTS = "robots"  # fetch it and answer with `robots_finished`
    PAGE = "page"  # fetch it and answer with `finished`
    FORBIDDEN = "forbidden"  # do not fetch it, robots.txt says so; no answer is expected


class Handout(NamedTuple):
    """A URL whose turn it is; `rule` is the line of robots.txt that forbids it."""

    host: str
    url: str
    action: Action
    rule: str = ""


class Reply(NamedTuple):
    """What came of a request, as far as the host's well-being goes."""

    status: int | None  # None: no answer came
    seconds: float  # from the request to the end of the answer
    retry_after: float | None = None  # seconds, where the host asked for a pause
    ip: str = ""  # the address that was asked; empty where it is not known


class LeftOver(NamedTuple):
    """A URL that was not handed out, and why."""

    url: str
    reason: str


class HostQueue:
    """One host in one round."""

    def __init__(
        self, host: str, state: HostState, settings: PolitenessSettings, agent: str, now: float
    ) -> None:
        self.host = host
        self.set_aside = ""  # why the host is left for the next round
        self.held = False  # the caller wants nothing more of the host for now
        self.in_flight: set[Handout] = set()
        self._settings = settings
        self._agent = agent
        # A clock that was wrong once must not close a host for years.
        self._paused_until = min(state.not_before, now + max(settings.max_retry_after, settings.max_backoff))
        self._last_event = -inf  # a request began or ended
        self._robots = dict(state.robots)
        self._crawl_delay = state.crawl_delay
        self._failures = state.failures
        self._pages = state.pages
        self._last_seconds = state.last_seconds
        self._reason = state.reason
        self._urls: list[tuple[float, int, str]] = []  # a heap of (-priority, order of arrival, URL)
        self._seen: set[str] = set()
        self._deferred: list[LeftOver] = []
        self._handed_out = 0
        self._robots_tries: dict[str, int] = {}
        self._robots_asked = False

    def __len__(self) -> int:
        return len(self._urls)

    @property
    def open(self) -> bool:
        """Whether there is something to ask the host when its time has come."""
        limit = self._settings.connections_per_host
        free = not limit or len(self.in_flight) < limit
        is_stopped = self.held or self.set_aside or self._robots_asked
        return bool(free and self._urls and not is_stopped)

    @property
    def is_failing(self) -> bool:
        """Whether the last request to the host has failed."""
        return self._failures > 0

    @property
    def ready_at(self) -> float:
        """The time before which the host must be left alone."""
        delay = delay_between(self._settings, self._crawl_delay, self._last_seconds)
        return max(self._paused_until, self._last_event + delay)

    def add(self, url: str, priority: float) -> bool:
        """Queue a URL unless it has been queued in this round already; higher priorities come first."""
        if url in self._seen:
            return False
        heappush(self._urls, (-priority, len(self._seen), url))
        self._seen.add(url)
        return True

    def take(self, now: float) -> Handout | None:
        """Return the URL whose turn it is, None where none of the rest can be fetched in this round."""
        share = self._settings.pages_per_host
        while self._urls:
            if share is not None and self._handed_out >= share:
                self.set_aside = f"the host has had its share of the round, {share} pages"
                return None
            url = self._urls[0][2]
            scheme = url.partition(":")[0]
            known = self._robots.get(scheme)
            if known is None or not self._is_fresh(known, now):
                return self._start(
                    Handout(self.host, f"{scheme}://{self.host}/robots.txt", Action.ROBOTS), now
                )
            heappop(self._urls)
            verdict = known.robots.verdict(url)
            if verdict.allowed:
                self._handed_out += 1
                return self._start(Handout(self.host, url, Action.PAGE), now)
            if not known.robots.try_later:
                return Handout(self.host, url, Action.FORBIDDEN, verdict.rule)
            self._deferred.append(LeftOver(url, verdict.rule))
        return None

    def finished(self, handout: Handout, now: float, reply: Reply) -> None:
        """Take note of the answer to a page."""
        self._end(handout, now, reply)
        if not is_trouble(reply.status):
            self._pages += 1

    def robots_finished(self, handout: Handout, now: float, reply: Reply, robots: Robots) -> None:
        """Take note of what robots.txt says; where it could not be had it is asked for again a few times."""
        self._end(handout, now, reply)
        scheme = handout.url.partition(":")[0]
        tries = self._robots_tries[scheme] = self._robots_tries.get(scheme, 0) + 1
        if robots.try_later and tries < self._settings.robots_tries:
            return
        if robots.try_later and (known := self._robots.get(scheme)):
            # A host that cannot answer now has not taken back the delay it asked for.
            robots = msgspec.structs.replace(robots, crawl_delay=known.robots.crawl_delay)
        self._robots[scheme] = KnownRobots(robots, now, reply.status)
        self._robots_tries[scheme] = 0
        self._crawl_delay = self.state().crawl_delay

    def left_over(self) -> Iterator[LeftOver]:
        """Yield what was not handed out."""
        yield from self._deferred
        for _, _, url in sorted(self._urls):
            yield LeftOver(url, self.set_aside or "the round ended before its turn came")

    def state(self) -> HostState:
        """Return what is to be remembered of the host."""
        return HostState(
            robots=dict(self._robots),
            not_before=self.ready_at,
            failures=self._failures,
            pages=self._pages,
            last_seconds=self._last_seconds,
            reason=self._reason,
        )

    def _is_fresh(self, known: KnownRobots, now: float) -> bool:
        robots = known.robots
        max_age = self._settings.robots_retry if robots.try_later else self._settings.robots_max_age
        return robots.agent == self._agent and 0 <= now - known.read_at <= max_age

    def _start(self, handout: Handout, now: float) -> Handout:
        self.in_flight.add(handout)
        self._robots_asked = self._robots_asked or handout.action is Action.ROBOTS
        self._last_event = now
        return handout

    def _end(self, handout: Handout, now: float, reply: Reply) -> None:
        if handout not in self.in_flight:
            raise ValueError(f"{handout.url} is not under way; answer each handout once")
        self.in_flight.remove(handout)
        self._robots_asked = self._robots_asked and handout.action is not Action.ROBOTS
        self._last_seconds = reply.seconds
        self._last_event = now
        if not is_trouble(reply.status):
            self._failures = 0
            self._reason = ""
            return
        self._failures += 1
        self._reason = trouble_of(reply.status)
        pause = backoff_after(self._settings, self._failures, reply.retry_after)
        self._paused_until = max(self._paused_until, now + pause)
        if self._failures >= self._settings.max_failures:
            self.set_aside = f"the host failed {self._failures} times in a row, at last with {self._reason}"
