"""The waiting URLs of one host, and when the host may be asked again."""

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
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawlctl.pipeline.config.settings import PolitenessSettings
    from crawlctl.pipeline.politeness.handout import LeftOver, Reply
    from crawlctl.pipeline.politeness.shared_machines import Machine
    from crawlctl.pipeline.robots.robots import Robots

ROUND_ENDED = "the round ended before its turn came"
BROKEN_OFF = "the round ended before its answer was whole, after"
_SLOW = 5.0  # seconds; if a request was stopped after more, the state of the host gives this as a reason


class HostQueue:
    """The state of one host in one round; crawl_delay.py has the rules for its pauses."""

    def __init__(
        self, host: str, state: HostState, settings: PolitenessSettings, agent: str, now: float
    ) -> None:
        self.host = host
        self.set_aside = ""  # why the host is left for the next round; empty if it is not
        self.held = False  # the caller wants no URLs of the host for now
        self.in_flight: dict[Handout, float] = {}  # requests in progress, and when each began
        self.ip = state.ip
        self.machine: Machine[HostQueue] | None = None  # the machine it shares with other hosts
        self._settings = settings
        self._agent = agent
        self._known = state
        self._now = now  # the time of the last event, or of the start of the round
        self._paused_until = self._known.corrected(state.not_before, self._now, settings)
        self._last_event = -inf  # when a request last started or ended; -inf before the first
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
        """Whether a request can start when the pause of the host is over."""
        limit = self._settings.connections_per_host
        if self.held or self.set_aside or (limit and len(self.in_flight) >= limit):
            return False
        return any(scheme.open for scheme in self._schemes.values())

    @property
    def was_asked(self) -> bool:
        """Whether the host was asked in this round."""
        return self._last_event > -inf

    @property
    def is_left(self) -> bool:
        """Whether the host is left for the next round, with all its waiting URLs."""
        if self.set_aside:
            return True
        queued = [scheme for scheme in self._schemes.values() if scheme]
        return bool(queued) and all(scheme.closed for scheme in queued)

    @property
    def has_left(self) -> bool:
        """Whether `left_over` has something to yield."""
        return any(scheme.has_left for scheme in self._schemes.values())

    @property
    def is_failing(self) -> bool:
        """True if every scheme with waiting URLs failed at its last request."""
        return all(scheme.failures for scheme in self._schemes.values() if scheme.open)

    @property
    def reason(self) -> str:
        """The last failure of the host; empty after an answer."""
        return self._reason

    @property
    def has_answered(self) -> bool:
        """Whether a scheme that still has URLs has ever answered."""
        return any(scheme.pages for scheme in self._schemes.values() if scheme.open)

    @property
    def ready_at(self) -> float:
        """The time before which the host must not be asked."""
        pauses = (scheme.paused_until for scheme in self._schemes.values() if scheme.open)
        return max(self._rested_at, min(pauses, default=0.0))

    @property
    def _rested_at(self) -> float:
        delay = delay_between(self._settings, self._crawl_delay, self._last_seconds)
        return max(self._paused_until, self._last_event + delay)

    def seconds_left(self, now: float) -> float:
        """Return the estimated seconds until the host has no waiting URL and no request in progress.

        The estimate assumes that answers are as slow as the last one, and that a scheme that has failed fails
        once more.
        """
        each = delay_between(self._settings, self._crawl_delay, self._last_seconds) + self._last_seconds
        limit = self._settings.connections_per_host or len(self)
        failing = (scheme.failures for scheme in self._schemes.values() if scheme.open and scheme.failures)
        backoff = max((backoff_after(self._settings, times + 1, None) for times in failing), default=0.0)
        asking = each * max(0, len(self) - 1) / max(1, limit)
        return max(0.0, self.ready_at - now) + self.seconds_under_way(now) + backoff + asking

    def seconds_under_way(self, now: float) -> float:
        """Return the estimated seconds until the current requests are answered, 0 if there are none.

        The estimate assumes that an answer takes as long as the last answer of the host. If it has taken
        longer already, the estimate assumes that it takes as long again.
        """
        each = (now - began for began in self.in_flight.values())
        usual = self._last_seconds
        return max((usual - lasted if lasted < usual else lasted for lasted in each), default=0.0)

    def add(self, url: str, priority: float) -> bool:
        """Queue a URL; return False if it was queued in this round before. Higher priorities come first."""
        if url in self._seen:
            return False
        self._scheme(url).add(url, priority, len(self._seen))
        self._seen.add(url)
        return True

    def withdraw(self, urls: Collection[str]) -> list[str]:
        """Remove and return those of these URLs that wait; they may be queued again."""
        found = [url for scheme in self._schemes.values() for url in scheme.withdraw(urls)]
        self._seen.difference_update(found)
        return found

    def take(self, now: float) -> Handout | None:
        """Return the URL whose turn it is, None if no URL can be requested now."""
        share = self._settings.pages_per_host
        while (scheme := self._next_scheme(now)) is not None:
            if share is not None and self._handed_out >= share:
                self.set_aside = f"the host has had its share of the round, {counted(share, 'page')}"
                return None
            name, found = scheme
            known = found.robots
            if known is None or not known.is_fresh(self._agent, self._settings, now):
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
        """Record the answer to the request for a page."""
        scheme = self._end(handout, now, reply)
        if not is_trouble(reply.status):
            self._pages += 1
            scheme.pages += 1

    def robots_finished(self, handout: Handout, now: float, reply: Reply, robots: Robots) -> None:
        """Record the answer to the request for robots.txt.

        If no robots.txt came, it is requested again, up to politeness.robots_tries times.

        A robots.txt that was received but does not fit into memory is not requested again: it would not fit
        the next time either.
        """
        scheme = self._end(handout, now, reply)
        scheme.robots_tries += 1
        has_come = reply.status is not None and 200 <= reply.status < 300
        if robots.try_later and not has_come and scheme.robots_tries < self._settings.robots_tries:
            return
        if robots.try_later and scheme.robots:
            # While a host cannot answer, the Crawl-delay of its last robots.txt still holds.
            robots = msgspec.structs.replace(robots, crawl_delay=scheme.robots.robots.crawl_delay)
        scheme.robots = KnownRobots(robots, now, reply.status)
        scheme.robots_tries = 0
        if robots.try_later:
            scheme.close(robots.note, Fate.FAILED)  # no page of it may be fetched in this round
        self._crawl_delay = self.state().crawl_delay

    def refused(self, handout: Handout, now: float, reason: str) -> None:
        """Record that our own rules forbid to request robots.txt; all pages of the scheme are excluded."""
        scheme, _ = self._finish(handout, now)
        scheme.close(reason, Fate.EXCLUDED)
        self._reason = reason

    def broken_off(self, handout: Handout, now: float) -> None:
        """Record that we stopped a request because the round is over; its page stays due.

        This is not a failure of the host. The answer is assumed to need twice the time it has taken so far.
        Otherwise the next round would break it off at the same point, again expecting it to be done soon.
        The reason is kept, so that a host which is broken off in every round does not look as if nobody had
        asked it.
        """
        scheme, lasted = self._finish(handout, now)
        if lasted >= _SLOW:
            self._reason = f"{BROKEN_OFF} {lasted:.0f} s"
        self._last_seconds = max(self._last_seconds, 2 * lasted)
        if handout.action is Action.PAGE:
            scheme.defer(handout.url, f"{BROKEN_OFF} {lasted:.0f} s", Fate.DUE)

    def left_over(self) -> Iterator[LeftOver]:
        """Yield the URLs that were not handed out, or whose request was stopped."""
        for scheme in self._schemes.values():
            failed = f"; the last request had failed ({self._reason})" if scheme.failures else ""
            yield from scheme.left_over(self.set_aside or f"{ROUND_ENDED}{failed}")

    def state(self) -> HostState:
        """Return the state of the host that is saved for the next round."""
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
        """Return the state that is saved when the round is over, with the number of URLs left over."""
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
            paused_until = self._known.corrected(state.not_before, self._now, self._settings)
            robots = self._known.robots.get(name)
            scheme = self._schemes[name] = HostScheme(state, robots, paused_until)
            if robots and robots.robots.try_later and robots.is_fresh(self._agent, self._settings, self._now):
                scheme.close(robots.robots.note, Fate.FAILED)
        return scheme

    def _next_scheme(self, now: float) -> tuple[str, HostScheme] | None:
        ready = ((n, s) for n, s in self._schemes.items() if s.open and s.paused_until <= now)
        return min(ready, key=lambda item: item[1].turn, default=None)

    def _start(self, handout: Handout, now: float) -> Handout:
        self.in_flight[handout] = self._last_event = self._now = now
        return handout

    def _finish(self, handout: Handout, now: float) -> tuple[HostScheme, float]:
        """Return the scheme of a request that has ended, and the seconds that it took."""
        if handout not in self.in_flight:
            raise ValueError(f"{handout.url} is not in progress; report each handout once")
        lasted = now - self.in_flight.pop(handout)
        self._last_event = self._now = now
        scheme = self._scheme(handout.url)
        if handout.action is Action.ROBOTS:
            scheme.robots_asked = False
        return scheme, lasted

    def _end(self, handout: Handout, now: float, reply: Reply) -> HostScheme:
        scheme, _ = self._finish(handout, now)
        self.ip = reply.ip or self.ip
        if reply.is_ours and handout.action is Action.PAGE:
            return scheme
        self._last_seconds = reply.seconds
        if not is_trouble(reply.status):
            scheme.recover()
            self._reason = ""
            return scheme
        self._reason = reply.reason or trouble_of(reply.status)
        is_page = handout.action is Action.PAGE and is_of_the_page(reply.status, reply.retry_after)
        if is_page and scheme.is_only_a_page(self._settings):
            self._pause(now + backoff_after(self._settings, 1, None))
        else:
            self._fail(scheme, handout, now, reply)
        return scheme

    def _fail(self, scheme: HostScheme, handout: Handout, now: float, reply: Reply) -> None:
        """Back off from a scheme that fails, and leave it for the next round after too many failures."""
        scheme.failures += 1
        until = now + backoff_after(self._settings, scheme.failures, reply.retry_after)
        is_silent = reply.status is None
        if is_silent or (handout.action is Action.ROBOTS and is_of_the_page(reply.status, reply.retry_after)):
            scheme.paused_until = max(scheme.paused_until, until)
        else:
            self._pause(until)  # the host answered with an error, so the pause is for both schemes
        if scheme.failures >= self._settings.max_failures:
            reason = (
                f"the host failed {counted(scheme.failures, 'time')} in a row, at last with {self._reason}"
            )
            scheme.close(reason, Fate.FAILED)

    def _pause(self, until: float) -> None:
        self._paused_until = max(self._paused_until, until)
