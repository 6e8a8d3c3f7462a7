"""Who is asked next, and when: the queue that keeps a crawl polite.

A state machine without clock, network or threads: the caller says what time it is and what came of a request,
and gets the next URL that may be fetched now.  Whatever happens,

* a host has at most `connections_per_host` requests under way, and none begins sooner than its delay after
  the last one began or ended;
* no page is handed out before the robots.txt of its host and scheme is known and a day old at most, and none
  that it forbids;
* every URL is handed out once, as a page or as forbidden, or reported by `left_over`;
* hosts wait for nobody but themselves: they stand in a heap by the time at which they are ready, so a slow
  or dead host costs the others nothing, and a handout takes O(log hosts).

The clock must be the wall clock, for what is remembered of a host outlives the process.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.net.hostqueue import Action, Handout, HostQueue, LeftOver, Reply
from crawlctl.pipeline.net.hoststate import HostState
from crawlctl.pipeline.net.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crawlctl.pipeline.config.politeness import PolitenessSettings
    from crawlctl.pipeline.net.robots import Robots

__all__ = ["Action", "Handout", "LeftOver", "PoliteQueue", "Reply", "Waiting"]


class Waiting(NamedTuple):
    """What the queue is waiting for; the first four are numbers of hosts."""

    ready: int  # may be asked now
    paused: int  # wait for their delay or back-off to pass
    busy: int  # have requests under way
    set_aside: int  # are left for the next round
    urls: int  # not handed out so far, those of hosts set aside included
    next_time: float | None


class PoliteQueue:
    """The hosts of one fetch task; `states` is what earlier rounds remembered of them."""

    def __init__(
        self, settings: PolitenessSettings, agent: str, states: Mapping[str, HostState], now: float
    ) -> None:
        self._settings = settings
        self._agent = agent
        self._states = states
        self._started = now
        self._hosts: dict[str, HostQueue] = {}
        self._heap: list[tuple[float, int, HostQueue]] = []  # (time, order of arrival, host)
        self._standing: dict[str, float] = {}  # host → the time of the entry in the heap that counts
        self._arrivals = count()

    def add(self, url: str, priority: float = 0.0) -> bool:
        """Queue a canonical URL; False where it was queued in this round before."""
        name = host_of(url)
        host = self._hosts.get(name)
        if host is None:
            state = self._states.get(name) or HostState()
            host = HostQueue(name, state, self._settings, self._agent, self._started)
            self._hosts[name] = host
        added = host.add(url, priority)
        self._line_up(host)
        return added

    def next_ready(self, now: float) -> Handout | None:
        """Return a URL that may be dealt with now, None where the wait goes on until `next_time`."""
        while (time := self.next_time()) is not None and time <= now:
            host = heappop(self._heap)[2]
            del self._standing[host.host]
            handout = host.take(now) if host.ready_at <= now else None
            # A host with much that is forbidden goes to the back like any other.
            self._line_up(host, now)
            if handout is not None:
                return handout
        return None

    def next_time(self) -> float | None:
        """Return when a host will be ready; None where only answers or new URLs can change anything."""
        while self._heap:
            time, _, host = self._heap[0]
            if self._standing.get(host.host) == time:
                return time
            heappop(self._heap)
        return None

    def only_failing_hosts_wait(self) -> bool:
        """Tell whether each host that could be asked later has failed at its last request."""
        return all(self._hosts[name].is_failing for name in self._standing)

    def finished(self, handout: Handout, now: float, reply: Reply) -> None:
        """Take the answer to a page."""
        host = self._hosts[handout.host]
        host.finished(handout, now, reply)
        self._line_up(host)

    def robots_finished(self, handout: Handout, now: float, reply: Reply, robots: Robots) -> None:
        """Take the answer to a robots.txt, as `robots_for_status` reads it."""
        host = self._hosts[handout.host]
        host.robots_finished(handout, now, reply, robots)
        self._line_up(host)

    def hold(self, host: str) -> None:
        """Hand out nothing of a host until it is released; what is under way goes on."""
        if queue := self._hosts.get(host):
            queue.held = True
            self._line_up(queue)

    def release(self, host: str) -> None:
        """Hand out URLs of a held host again."""
        if queue := self._hosts.get(host):
            queue.held = False
            self._line_up(queue)

    def set_aside(self, host: str, reason: str) -> None:
        """Hand out no more of a host in this round; `left_over` gives the reason."""
        if queue := self._hosts.get(host):
            queue.set_aside = reason
            self._line_up(queue)

    def waiting(self, now: float) -> Waiting:
        """Return the state of the queue for display; takes time linear in the number of hosts."""
        ready = sum(time <= now for time in self._standing.values())
        hosts = self._hosts.values()
        return Waiting(
            ready=ready,
            paused=len(self._standing) - ready,
            busy=sum(bool(host.in_flight) for host in hosts),
            set_aside=sum(bool(host.set_aside) for host in hosts),
            urls=sum(map(len, hosts)),
            next_time=self.next_time(),
        )

    def left_over(self) -> Iterator[LeftOver]:
        """Yield every URL that was not handed out, with the reason."""
        for host in self._hosts.values():
            yield from host.left_over()

    def states(self) -> Iterator[tuple[str, HostState]]:
        """Yield what is to be remembered of each host of this round."""
        for name, host in self._hosts.items():
            yield name, host.state()

    def _line_up(self, host: HostQueue, earliest: float = 0.0) -> None:
        # With several connections an answer can bring a host's time forward, or have it set aside while it
        # waits; an entry in the heap that no longer counts is dropped when it comes up.
        if not host.open:
            self._standing.pop(host.host, None)
            return
        time = max(host.ready_at, earliest)
        if time < self._standing.get(host.host, inf):
            self._standing[host.host] = time
            heappush(self._heap, (time, next(self._arrivals), host))
