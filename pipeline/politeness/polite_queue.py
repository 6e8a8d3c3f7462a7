"""Who is asked next, and when: the queue that keeps a crawl polite.

A state machine without clock, network or threads: the caller says what time it is and what came of a request,
and gets the next URL that may be fetched now.  Whatever happens,

* a host has at most `connections_per_host` requests under way, and none begins sooner than its delay after
  the last one began or ended;
* so has the machine behind many hosts (machines.py), with `connections_per_address` and a delay of its own;
* no page is handed out before the robots.txt of its host and scheme is known and a day old at most, and none
  that it forbids;
* every URL is handed out once, as a page or as forbidden, or reported by `left_over`;
* hosts wait for nobody but themselves and their machine: they stand in a heap by the time at which they are
  ready, then in the line of a machine that may not be asked yet, which stands in the heap for all of them.
  So a slow or dead host costs the others nothing, and a handout takes O(log hosts).

The clock must be the wall clock, for what is remembered of a host outlives the process.
"""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.politeness.crawl_delay import is_trouble, longest_patience
from crawlctl.pipeline.politeness.handout import Action, Handout
from crawlctl.pipeline.politeness.host_queue import HostQueue
from crawlctl.pipeline.politeness.host_state import HostState
from crawlctl.pipeline.politeness.shared_machines import Machine, Machines
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from crawlctl.pipeline.config.settings import PolitenessSettings
    from crawlctl.pipeline.politeness.handout import LeftOver, Reply
    from crawlctl.pipeline.robots.robots import Robots


class Rest(NamedTuple):
    """What is left to be asked: of which hosts, on how many machines, and for how many seconds at least."""

    hosts: set[str]
    machines: int
    seconds: float


class PoliteQueue:
    """The hosts of one fetch task of so many; `states` is what earlier rounds remembered of them."""

    def __init__(
        self,
        settings: PolitenessSettings,
        agent: str,
        states: Mapping[str, HostState],
        now: float,
        tasks: int = 1,
    ) -> None:
        self._settings = settings
        self._agent = agent
        self._states = states
        self._started = now
        self._hosts: dict[str, HostQueue] = {}
        self._machines = Machines(settings, tasks)
        self._asked_of: dict[Handout, tuple[Machine, ...]] = {}  # of requests under way
        self._heap: list[tuple[float, int, HostQueue | Machine]] = []  # (time, order of arrival, who)
        # The time and arrival of the entry in the heap that counts; one that was dropped never counts again.
        self._ready_times: dict[HostQueue | Machine, tuple[float, int]] = {}
        self._in_line: set[HostQueue | Machine] = set()  # of their machines
        self._arrivals = count()
        self._has_answer = False

    def add(self, url: str, priority: float = 0.0) -> bool:
        """Queue a canonical URL; False where it was queued in this round before."""
        name = host_of(url)
        host = self._hosts.get(name)
        if host is None:
            state = self._states.get(name) or HostState()
            host = HostQueue(name, state, self._settings, self._agent, self._started)
            host.machine = self._machines.of(host)
            self._hosts[name] = host
            added = host.add(url, priority)
            self._take_in(host)
            return added
        added = host.add(url, priority)
        self._line_up(host)
        return added

    def next_ready(self, now: float) -> Handout | None:
        """Return a URL that may be dealt with now, None where the wait goes on until `next_time`."""
        while (time := self.next_time()) is not None and time <= now:
            first = heappop(self._heap)[2]
            del self._ready_times[first]
            handout = self._turn_of(first, now) if isinstance(first, Machine) else self._take(first, now)
            if handout is not None:
                return handout
        return None

    def next_time(self) -> float | None:
        """Return when a host will be ready; None where only answers or new URLs can change anything."""
        while self._heap:
            time, arrival, first = self._heap[0]
            if self._ready_times.get(first) == (time, arrival):
                return time
            heappop(self._heap)
        return None

    def only_failing_hosts_wait(self) -> bool:
        """Tell whether each host that could be asked later has failed at its last request."""
        return not self._in_line and all(host.is_failing for host in self._hosts_in_heap())

    def patience(self) -> float:
        """Return how many seconds to wait when only hosts that fail are left.

        Mostly that is `politeness.patience`. It is as long as all back-offs of a host together in two cases:
        a failing host has answered before, so perhaps only some of its pages fail; or no host has answered in
        this round, so these hosts may be all there is to crawl.
        """
        if not self._has_answer or any(host.has_answered for host in self._hosts_in_heap()):
            return longest_patience(self._settings)
        return float(self._settings.patience)

    def finished(self, handout: Handout, now: float, reply: Reply) -> None:
        """Take the answer to a page."""
        self._hosts[handout.host].finished(handout, now, reply)
        self._has_answer = self._has_answer or not is_trouble(reply.status)
        self._free(handout)

    def robots_finished(self, handout: Handout, now: float, reply: Reply, robots: Robots) -> None:
        """Take the answer to a robots.txt, as `robots_for_status` reads it."""
        self._hosts[handout.host].robots_finished(handout, now, reply, robots)
        self._has_answer = self._has_answer or not is_trouble(reply.status)
        self._free(handout)

    def refused(self, handout: Handout, now: float, reason: str) -> None:
        """Take it that a robots.txt may not be asked for by rules of ours; nor are its pages, then."""
        self._hosts[handout.host].refused(handout, now, reason)
        self._free(handout)

    def broken_off(self, handout: Handout, now: float) -> None:
        """Take it that we have ended a request before its answer was whole; its page stays due."""
        self._hosts[handout.host].broken_off(handout, now)
        self._free(handout)

    def hold(self, host: str) -> None:
        """Hand out nothing of a host until it is released; what is under way goes on."""
        if (queue := self._hosts.get(host)) is not None:
            queue.held = True
            self._line_up(queue)

    def release(self, host: str) -> None:
        """Hand out URLs of a held host again."""
        if (queue := self._hosts.get(host)) is not None:
            queue.held = False
            self._line_up(queue)

    def set_aside(self, host: str, reason: str) -> None:
        """Hand out no more of a host in this round; `left_over` gives the reason."""
        if (queue := self._hosts.get(host)) is not None:
            queue.set_aside = reason
            self._line_up(queue)

    def hosts_waiting(self, now: float) -> int:
        """Return how many hosts wait for their delay or back-off to pass; takes time linear in all hosts."""
        ready = sum(time <= now for time, _ in self._ready_times.values())  # of a machine only its first host
        queued = sum(host in self._in_line for host in self._hosts.values())
        return sum(1 for _ in self._hosts_in_heap()) + queued - ready

    def rest(self, now: float) -> Rest:
        """Return what is left, by what is known of the hosts; takes time linear in their number."""
        rest = [
            host for host in self._hosts.values() if host.in_flight or (host.has_left and not host.is_left)
        ]
        urls: Counter[HostQueue | Machine] = Counter()
        for host in rest:
            urls[host.machine or host] += len(host)
        of_hosts = (host.seconds_left(now) for host in rest)
        # A machine of many hosts takes long though each of them has few URLs.
        of_machines = (machine.seconds_for(urls[machine]) for machine in urls if isinstance(machine, Machine))
        return Rest({host.host for host in rest}, len(urls), max((*of_hosts, *of_machines), default=0.0))

    def answering(self, now: float, seconds: float) -> list[HostQueue]:
        """Return the hosts whose answers under way are there within so many seconds, by what is known."""
        asked = (host for host in self._hosts.values() if host.in_flight)
        return [host for host in asked if host.seconds_under_way(now) <= seconds]

    def hosts_done(self) -> int:
        """Return how many hosts were asked in this round for all that is queued of them."""
        return sum(host.was_asked and not host.has_left for host in self._hosts.values())

    def left_over(self) -> Iterator[LeftOver]:
        """Yield every URL that was not handed out, with the reason."""
        for host in self._hosts.values():
            yield from host.left_over()

    def states(self, wanted: Container[str] | None = None) -> Iterator[tuple[str, HostState]]:
        """Yield what is to be remembered of the hosts of this round, or of some of them."""
        for name, host in self._hosts.items():
            if wanted is None or name in wanted:
                yield name, host.state()

    def states_at_the_end(self, wanted: Container[str] = ()) -> Iterator[tuple[str, HostState]]:
        """Yield what is to be remembered when the round is over, of some hosts and all with URLs left."""
        for name, host in self._hosts.items():
            if name in wanted or host.has_left:
                yield name, host.state_at_the_end()

    def _hosts_in_heap(self) -> Iterator[HostQueue]:
        return (entry for entry in self._ready_times if isinstance(entry, HostQueue))

    def _take_in(self, host: HostQueue) -> None:
        """Line up a new host; one that could be asked at once goes to its machine without the heap."""
        if host.machine and host.ready_at <= self._started:
            self._wait_for(host.machine, host)
        else:
            self._line_up(host)

    def _turn_of(self, machine: Machine, now: float, stood_at: Machine | None = None) -> Handout | None:
        """Return a URL of the first host in the line of a machine whose time has come.

        A domain has to be first in the line of its place, too.
        """
        address = machine.address
        if address is not None and address is not stood_at and not address.is_free_for_all(now):
            self._wait_for(address, machine)
            return None
        first = machine.line.popleft() if machine.line and machine.is_free(now) else None
        handout = None
        if first is not None:
            self._in_line.discard(first)
            if isinstance(first, Machine):
                handout = self._turn_of(first, now, machine)
            else:
                handout = self._take(first, now, machine)
        self._line_up_machine(machine)
        return handout

    def _take(self, host: HostQueue, now: float, stood_at: Machine | None = None) -> Handout | None:
        """Return a URL of a host whose time has come, or have it wait for its machine."""
        if not host.open or host.ready_at > now:
            self._line_up(host)
            return None
        machine = host.machine
        if machine and machine is not stood_at and not machine.is_free_for_all(now):
            self._wait_for(machine, host)
            return None
        handout = host.take(now)
        if machine and handout and handout.action is not Action.FORBIDDEN:
            asked = (machine, machine.address) if machine.address else (machine,)
            for one in asked:
                one.began(now)
            self._asked_of[handout] = asked
        # A host with much that is forbidden goes to the back like any other.
        self._line_up(host, now)
        return handout

    def _wait_for(self, machine: Machine, entry: HostQueue | Machine) -> None:
        machine.line.append(entry)
        self._in_line.add(entry)
        self._line_up_machine(machine)

    def _free(self, handout: Handout) -> None:
        """Take note that a request is over, and which machine it was that answered."""
        host = self._hosts[handout.host]
        for machine in self._asked_of.pop(handout, ()):
            machine.ended()
            self._line_up_machine(machine)
        host.machine = self._machines.of(host)
        self._line_up(host)

    def _line_up(self, host: HostQueue, earliest: float = 0.0) -> None:
        # With several connections an answer can bring a host's time forward, or have it set aside while it
        # waits; an entry in the heap that no longer counts is dropped when it comes up.
        if not host.open:
            self._ready_times.pop(host, None)
        elif host not in self._in_line:
            self._push(host, max(host.ready_at, earliest))

    def _line_up_machine(self, machine: Machine) -> None:
        if not machine.line or not machine.open:
            self._ready_times.pop(machine, None)
        elif machine not in self._in_line:
            self._push(machine, machine.ready_at)

    def _push(self, entry: HostQueue | Machine, time: float) -> None:
        if time < self._ready_times.get(entry, (inf, 0))[0]:
            arrival = next(self._arrivals)
            self._ready_times[entry] = time, arrival
            heappush(self._heap, (time, arrival, entry))
