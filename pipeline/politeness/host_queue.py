"""The URLs of one host that wait to be fetched, and whether the host may be asked now."""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.politeness.crawl_delay import (
    backoff_after,
    delay_between,
    is_of_the_page,
    is_trouble,
    trouble_of,
)
from crawlctl.pipeline.politeness.handout import Action, Fate, Handout
from crawlctl.pipeline.politeness.host_scheme import HostScheme
from crawlctl.pipeline.politeness.host_state import HostState, KnownRobots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.config.settings import PolitenessSettings
    from crawlctl.pipeline.politeness.handout import LeftOver, Reply
    from crawlctl.pipeline.politeness.shared_machines import Machine
    from crawlctl.pipeline.robots.robots import Robots

ROUND_ENDED = "the round ended before its turn came"
BROKEN_OFF = "the round ended before its answer was whole, after"


class HostQueue:
    """One host in one round."""

    def __init__(
        self, host: str, state: HostState, settings: PolitenessSettings, agent: str, now: float
    ) -> None:
        self.host = host
        self.set_aside = ""  # why the host is left for the next round
        self.held = False  # the caller wants nothing more of the host for now
        self.in_flight: set[Handout] = set()
        self.ip = state.ip
        self.machine: Machine | None = None  # what it shares with other hosts
        self._settings = settings
        self._agent = agent
        self._known = state
        self._now = now  # the time of the last event, or the beginning
        self._paused_until = self._in_time(state.not_before)
        self._last_event = -inf  # a request began or ended
        self._crawl_delay = state.crawl_delay
        self._pages = state.pages
        self._last_seconds = state.last_seconds
        self._reason = state.reason
        self._schemes: dict[str, HostScheme] = {}
        self._seen: set[str] = set()
        self._handed_out = 0

    def __len__(self) -> int:
        return sum(map(len, self._schemes.values()))

    @property
    def open(self) -> bool:
        """Whether there is something to ask the host when its time has come."""
        limit = self._settings.connections_per_host
        if self.held or self.set_aside or (limit and len(self.in_flight) >= limit):
            return False
        return any(scheme.open for scheme in self._schemes.values())

    @property
    def was_asked(self) -> bool:
        """Whether a request to the host has begun in this round."""
        return self._last_event > -inf

    @property
    def is_left(self) -> bool:
        """Whether the host is left for the next round, with all that is queued of it."""
        if self.set_aside:
            return True
        queued = [scheme for scheme in self._schemes.values() if scheme]
        return bool(queued) and all(scheme.closed for scheme in queued)

    @property
    def has_left(self) -> bool:
        """Whether `left_over` has anything to yield."""
        return any(scheme.has_left for scheme in self._schemes.values())

    @property
    def is_failing(self) -> bool:
        """Whether whatever of the host could be asked later has failed at its last request."""
        return all(scheme.failures for scheme in self._schemes.values() if scheme.open)

    @property
    def has_answered(self) -> bool:
        """Whether what could be asked later has ever answered."""
        return any(scheme.pages for scheme in self._schemes.values() if scheme.open)

    @property
    def ready_at(self) -> float:
        """The time before which the host must be left alone."""
        pauses = (scheme.paused_until for scheme in self._schemes.values() if scheme.open)
        return max(self._rested_at, min(pauses, default=0.0))

    @property
    def _rested_at(self) -> float:
        delay = delay_between(self._settings, self._crawl_delay, self._last_seconds)
        return max(self._paused_until, self._last_event + delay)

    def seconds_left(self, now: float) -> float:
        """Return about how many seconds it takes until nothing of the host is queued or under way.

        Answers are taken to be as slow as the last one, and a service that has failed to fail once more.
        """
        each = delay_between(self._settings, self._crawl_delay, self._last_seconds) + self._last_seconds
        limit = self._settings.connections_per_host or len(self)
        failing = (scheme.failures for scheme in self._schemes.values() if scheme.open and scheme.failures)
        backoff = max((backoff_after(self._settings, times + 1, None) for times in failing), default=0.0)
        asking = each * max(0, len(self) - 1) / max(1, limit)
        return max(0.0, self.ready_at - now) + self.seconds_under_way(now) + backoff + asking

    def seconds_under_way(self, now: float) -> float:
        """Return about how many seconds it takes until the answers under way are there, 0 where none is.

        One is taken to need as long as the last, and where it has needed longer than that, as long again.
        """
        if not self.in_flight:
            return 0.0
        lasted = now - self._last_event
        return self._last_seconds - lasted if lasted < self._last_seconds else lasted

    def add(self, url: str, priority: float) -> bool:
        """Queue a URL unless it has been queued in this round already; higher priorities come first."""
        if url in self._seen:
            return False
        self._scheme(url).add(url, priority, len(self._seen))
        self._seen.add(url)
        return True

    def take(self, now: float) -> Handout | None:
        """Return the URL whose turn it is, None where none of the rest can be fetched now."""
        share = self._settings.pages_per_host
        while (scheme := self._next_scheme(now)) is not None:
            if share is not None and self._handed_out >= share:
                self.set_aside = f"the host has had its share of the round, {share} pages"
                return None
            name, found = scheme
            known = found.robots
            if known is None or not self._is_fresh(known, now):
                found.robots_asked = True
                return self._start(Handout(self.host, f"{name}://{self.host}/robots.txt", Action.ROBOTS), now)
            url = found.pop()
            verdict = known.robots.verdict(url)
            if verdict.allowed:
                self._handed_out += 1
                return self._start(Handout(self.host, url, Action.PAGE), now)
            if not known.robots.try_later:
                return Handout(self.host, url, Action.FORBIDDEN, verdict.rule)
            found.defer(url, verdict.rule, Fate.FAILED)
        return None

    def finished(self, handout: Handout, now: float, reply: Reply) -> None:
        """Take note of the answer to a page."""
        scheme = self._end(handout, now, reply)
        if not is_trouble(reply.status):
            self._pages += 1
            scheme.pages += 1

    def robots_finished(self, handout: Handout, now: float, reply: Reply, robots: Robots) -> None:
        """Take note of what robots.txt says; where it could not be had it is asked for again a few times.

        One that has come and is of no use to us would be of none the next time.
        """
        scheme = self._end(handout, now, reply)
        scheme.robots_tries += 1
        has_come = reply.status is not None and 200 <= reply.status < 300
        if robots.try_later and not has_come and scheme.robots_tries < self._settings.robots_tries:
            return
        if robots.try_later and scheme.robots:
            # A host that cannot answer now has not taken back the delay it asked for.
            robots = msgspec.structs.replace(robots, crawl_delay=scheme.robots.robots.crawl_delay)
        scheme.robots = KnownRobots(robots, now, reply.status)
        scheme.robots_tries = 0
        self._crawl_delay = self.state().crawl_delay

    def refused(self, handout: Handout, now: float, reason: str) -> None:
        """Take note that a robots.txt may not be asked for by rules of ours: nor may the scheme's pages."""
        scheme = self._finish(handout, now)
        scheme.close(reason, Fate.EXCLUDED)

    def broken_off(self, handout: Handout, now: float) -> None:
        """Take note that we have ended a request before its answer was whole, for want of time.

        That is nobody's failure: the page stays due. The answer is taken to need as long again as it has
        lasted, so that the next one is not thought to be near its end when it has come as far.
        """
        lasted = now - self._last_event
        scheme = self._finish(handout, now)
        self._last_seconds = max(self._last_seconds, 2 * lasted)
        if handout.action is Action.PAGE:
            scheme.defer(handout.url, f"{BROKEN_OFF} {lasted:.0f} s", Fate.DUE)

    def left_over(self) -> Iterator[LeftOver]:
        """Yield what was not handed out, or was broken off."""
        for scheme in self._schemes.values():
            failed = f"; the last request had failed ({self._reason})" if scheme.failures else ""
            yield from scheme.left_over(self.set_aside or f"{ROUND_ENDED}{failed}")

    def state(self) -> HostState:
        """Return what is to be remembered of the host."""
        rested_at = self._rested_at
        mine = {name: scheme.state(rested_at) for name, scheme in self._schemes.items()}
        schemes = {**self._known.schemes, **mine}
        return HostState(
            robots={**self._known.robots, **self._robots()},
            not_before=min((one.not_before for one in schemes.values()), default=rested_at),
            failures=min((one.failures for one in schemes.values()), default=self._known.failures),
            pages=self._pages,
            last_seconds=self._last_seconds,
            reason=self._reason,
            ip=self.ip,
            schemes=schemes,
            told_at=self._now,
        )

    def state_at_the_end(self) -> HostState:
        """Return what is to be remembered when the round is over: what of the host was left, too."""
        reasons = Counter(left.reason for left in self.left_over())
        most = max(reasons, key=reasons.__getitem__, default="")
        return msgspec.structs.replace(self.state(), left=reasons.total(), left_reason=most)

    def _robots(self) -> dict[str, KnownRobots]:
        return {name: scheme.robots for name, scheme in self._schemes.items() if scheme.robots}

    def _scheme(self, url: str) -> HostScheme:
        name = url.partition(":")[0]
        scheme = self._schemes.get(name)
        if scheme is None:
            state = self._known.scheme(name)
            scheme = HostScheme(state, self._known.robots.get(name), self._in_time(state.not_before))
            self._schemes[name] = scheme
        return scheme

    def _in_time(self, not_before: float) -> float:
        """Return until when to wait for what an earlier round has told, by the clock of today.

        A clock that was ahead and has been set right must not close a host: the pause is what counts.
        """
        ahead = max(0.0, self._known.told_at - self._now)
        longest = max(self._settings.max_retry_after, self._settings.max_backoff)
        return min(not_before - ahead, self._now + longest)

    def _next_scheme(self, now: float) -> tuple[str, HostScheme] | None:
        ready = ((n, s) for n, s in self._schemes.items() if s.open and s.paused_until <= now)
        return min(ready, key=lambda item: item[1].turn, default=None)

    def _is_fresh(self, known: KnownRobots, now: float) -> bool:
        robots = known.robots
        max_age = self._settings.robots_retry if robots.try_later else self._settings.robots_max_age
        return robots.agent == self._agent and 0 <= now - known.read_at <= max_age

    def _start(self, handout: Handout, now: float) -> Handout:
        self.in_flight.add(handout)
        self._last_event = self._now = now
        return handout

    def _finish(self, handout: Handout, now: float) -> HostScheme:
        if handout not in self.in_flight:
            raise ValueError(f"{handout.url} is not under way; answer each handout once")
        self.in_flight.remove(handout)
        self._last_event = self._now = now
        scheme = self._scheme(handout.url)
        if handout.action is Action.ROBOTS:
            scheme.robots_asked = False
        return scheme

    def _end(self, handout: Handout, now: float, reply: Reply) -> HostScheme:
        scheme = self._finish(handout, now)
        self.ip = reply.ip or self.ip
        if reply.is_ours and handout.action is Action.PAGE:
            return scheme
        self._last_seconds = reply.seconds
        if not is_trouble(reply.status):
            scheme.recover()
            self._reason = ""
            return scheme
        self._reason = trouble_of(reply.status)
        is_page = handout.action is Action.PAGE and is_of_the_page(reply.status, reply.retry_after)
        if is_page and scheme.is_only_a_page(self._settings):
            self._pause(now + backoff_after(self._settings, 1, None))
        else:
            self._fail(scheme, handout, now, reply)
        return scheme

    def _fail(self, scheme: HostScheme, handout: Handout, now: float, reply: Reply) -> None:
        """Back off from a service that is unwell, and give it up for this round after too many failures."""
        scheme.failures += 1
        until = now + backoff_after(self._settings, scheme.failures, reply.retry_after)
        is_silent = reply.status is None
        if is_silent or (handout.action is Action.ROBOTS and is_of_the_page(reply.status, reply.retry_after)):
            scheme.paused_until = max(scheme.paused_until, until)
        else:
            self._pause(until)  # the machine asks for it, whatever the scheme
        if scheme.failures >= self._settings.max_failures:
            reason = f"the host failed {scheme.failures} times in a row, at last with {self._reason}"
            scheme.close(reason, Fate.FAILED)

    def _pause(self, until: float) -> None:
        self._paused_until = max(self._paused_until, until)
