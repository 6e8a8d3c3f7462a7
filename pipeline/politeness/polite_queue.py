"""The polite queue: which host is asked next, and when.

It is a state machine without clock, network or threads. The caller passes the time and the answers, and gets
the next URL that may be fetched now. These rules always hold:

* A host has at most `connections_per_host` requests in progress. Its next request starts when its crawl delay
  has passed since a request to it last started or ended, whichever was later (crawl_delay.py).
* A machine with many hosts (shared_machines.py) has at most `connections_per_address` requests in progress,
  and a delay of its own. This delay counts from the start of the last request to the machine; when that
  request ends does not matter.
* No page is handed out before the robots.txt of its host and scheme is known and at most a day old, and no
  page that it forbids.
* Every URL is handed out once, as a page or as forbidden, or it is reported by `left_over`.
* A host waits only for itself and its machine. Hosts are in a heap, by the time at which they are ready. A
host whose machine is not ready moves to the line of the machine, and the machine is in the heap for all hosts
in its line. So a slow or dead host does not delay other hosts, and a handout takes O(log hosts).

The time must be wall-clock time, because host states are saved and used by later processes.
"""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from crawlctl.pipeline.politeness.crawl_delay import is_trouble, longest_patience
from crawlctl.pipeline.politeness.handout import Action, Handout
from crawlctl.pipeline.politeness.host_queue import HostQueue
from crawlctl.pipeline.politeness.host_state import HostState
from crawlctl.pipeline.politeness.shared_machines import Machine, Machines
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterator, Mapping

    from crawlctl.pipeline.config.settings import PolitenessSettings
    from crawlctl.pipeline.politeness.handout import LeftOver, Reply
    from crawlctl.pipeline.robots.robots import Robots


HostMachine: TypeAlias = Machine[HostQueue]
Entry: TypeAlias = HostQueue | HostMachine  # what waits in the heap or in a line


class Rest(NamedTuple):
    """What is left to request: the hosts, the number of their machines, and the estimated seconds."""

    hosts: set[str]
    machines: int
    seconds: float
    in_flight: int = 0  # requests to these hosts in progress


def _always(_host: HostQueue) -> bool:
    return True


class PoliteQueue:
    """The hosts of one fetch task in one round.

    `states` are the saved host states; `tasks` is the number of fetch tasks that run at the same time.
    """

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
        self._machines: Machines[HostQueue] = Machines(settings, tasks)
        self._asked_of: dict[Handout, tuple[HostMachine, ...]] = {}  # requests in progress → their machines
        self._heap: list[tuple[float, int, Entry]] = []  # (time, arrival, host or machine)
        # The time and arrival of the valid heap entry of a host or machine; other entries are outdated.
        self._ready_times: dict[Entry, tuple[float, int]] = {}
        self._in_line: set[Entry] = set()  # the hosts and machines that wait in a line
        self._arrivals = count()
        self.has_answer = False  # whether a host has answered in this round

    def add(self, url: str, priority: float = 0.0) -> bool:
        """Queue a canonical URL; return False if it was queued in this round before."""
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

    def withdraw(self, urls: Collection[str]) -> list[str]:
        """Remove and return those of these URLs that were not handed out; they may be queued again."""
        found = []
        for name in {host_of(url) for url in urls}:
            if (host := self._hosts.get(name)) is not None:
                found += host.withdraw(urls)
                self._line_up(host)
        return found

    def needs_urls(self, host: str) -> bool:
        """Return whether a host, asked in this round or not, has no URL waiting and may be asked for more.

        No other host may wait in line for its machine, since it would have to wait longer then.
        """
        queue = self._hosts.get(host)
        if queue is None:
            return True
        is_contended = queue.machine is not None and bool(queue.machine.line)
        return not (queue.has_left or queue.set_aside or is_contended)

    def next_ready(self, now: float) -> Handout | None:
        """Return a URL whose turn it is, None if there is none before `next_time`."""
        while (time := self.next_time()) is not None and time <= now:
            first = heappop(self._heap)[2]
            del self._ready_times[first]
            handout = self._turn_of(first, now) if isinstance(first, Machine) else self._take(first, now)
            if handout is not None:
                return handout
        return None

    def next_time(self) -> float | None:
        """Return when the next host is ready, None if only answers or new URLs can make one ready."""
        while self._heap:
            time, arrival, first = self._heap[0]
            if self._ready_times.get(first) == (time, arrival):
                return time
            heappop(self._heap)
        return None

    def only_failing_hosts_wait(self) -> bool:
        """Return whether the last request to each waiting host has failed."""
        return not self._in_line and all(host.is_failing for host in self._hosts_in_heap())

    def patience(self) -> float:
        """Return how many seconds a task waits when only failing hosts are left.

        Mostly that is `politeness.patience`. In two cases it is the sum of all back-offs of a host: if a
        failing host has answered before, because perhaps only some of its pages fail; and if no host has
        answered in this round, because the failing hosts may be the whole crawl.
        """
        if not self.has_answer or any(host.has_answered for host in self._hosts_in_heap()):
            return longest_patience(self._settings)
        return float(self._settings.patience)

    def finished(self, handout: Handout, now: float, reply: Reply) -> None:
        """Record the answer to the request for a page."""
        self._hosts[handout.host].finished(handout, now, reply)
        self.has_answer = self.has_answer or not is_trouble(reply.status)
        self._free(handout)

    def robots_finished(self, handout: Handout, now: float, reply: Reply, robots: Robots) -> None:
        """Record the answer to the request for a robots.txt, as `robots_for_status` reads it."""
        self._hosts[handout.host].robots_finished(handout, now, reply, robots)
        self.has_answer = self.has_answer or not is_trouble(reply.status)
        self._free(handout)

    def refused(self, handout: Handout, now: float, reason: str) -> None:
        """Record that our own rules forbid to request a robots.txt; then no page is requested either."""
        self._hosts[handout.host].refused(handout, now, reason)
        self._free(handout)

    def broken_off(self, handout: Handout, now: float) -> None:
        """Record that we stopped a request because the round is over; its page stays due."""
        self._hosts[handout.host].broken_off(handout, now)
        self._free(handout)

    def hold(self, host: str) -> None:
        """Hand out no URL of a host until it is released; requests in progress go on."""
        if (queue := self._hosts.get(host)) is not None:
            queue.held = True
            self._line_up(queue)

    def release(self, host: str) -> None:
        """Hand out URLs of a held host again."""
        if (queue := self._hosts.get(host)) is not None:
            queue.held = False
            self._line_up(queue)

    def set_aside(self, host: str, reason: str) -> None:
        """Hand out no more URLs of a host in this round; `left_over` gives the reason."""
        if (queue := self._hosts.get(host)) is not None:
            queue.set_aside = reason
            self._line_up(queue)

    def busy_hosts(self) -> Iterator[HostQueue]:
        """Yield the hosts that are being asked, or are still to be asked in this round."""
        for host in self._hosts.values():
            if host.in_flight or (host.has_left and not host.is_left):
                yield host

    def rest(self, now: float, counts: Callable[[HostQueue], bool] = _always) -> Rest:
        """Return what is left to request of the hosts that count; takes time linear in the hosts."""
        rest = [host for host in self.busy_hosts() if counts(host)]
        urls: Counter[Entry] = Counter()
        for host in rest:
            urls[host.machine or host] += len(host)
        of_hosts = (host.seconds_left(now) for host in rest)
        # A machine with many hosts takes long even if each host has few URLs.
        of_machines = (machine.seconds_for(urls[machine]) for machine in urls if isinstance(machine, Machine))
        seconds = max((*of_hosts, *of_machines), default=0.0)
        return Rest(
            {host.host for host in rest}, len(urls), seconds, sum(len(host.in_flight) for host in rest)
        )

    def answering(self, now: float, seconds: float) -> list[HostQueue]:
        """Return the hosts whose requests in progress should be answered within `seconds`."""
        asked = (host for host in self._hosts.values() if host.in_flight)
        return [host for host in asked if host.seconds_under_way(now) <= seconds]

    def hosts_done(self) -> int:
        """Return the number of hosts that were asked in this round and have no URL left."""
        return sum(host.was_asked and not host.has_left for host in self._hosts.values())

    def left_over(self) -> Iterator[LeftOver]:
        """Yield each URL that was not handed out, with the reason."""
        for host in self._hosts.values():
            yield from host.left_over()

    def states(self, wanted: Container[str] | None = None) -> Iterator[tuple[str, HostState]]:
        """Yield the states to save of the hosts in `wanted`; None means all hosts of this round."""
        for name, host in self._hosts.items():
            if wanted is None or name in wanted:
                yield name, host.state()

    def states_at_the_end(self, wanted: Container[str] = ()) -> Iterator[tuple[str, HostState]]:
        """Yield the states to save when the round is over, of hosts in `wanted` and hosts with URLs left."""
        for name, host in self._hosts.items():
            if name in wanted or host.has_left:
                yield name, host.state_at_the_end()

    def _hosts_in_heap(self) -> Iterator[HostQueue]:
        return (entry for entry in self._ready_times if isinstance(entry, HostQueue))

    def _take_in(self, host: HostQueue) -> None:
        """Queue a new host; a host that is ready goes directly to its machine, not to the heap."""
        if host.machine and host.ready_at <= self._started:
            self._wait_for(host.machine, host)
        else:
            self._line_up(host)

    def _turn_of(
        self, machine: HostMachine, now: float, in_line_of: HostMachine | None = None
    ) -> Handout | None:
        """Return a URL of the first host in the line of a machine that is ready, None if it has to wait.

        A domain must also be first in the line of its address.
        """
        address = machine.address
        if address is not None and address is not in_line_of and not address.is_free_for_all(now):
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

    def _take(self, host: HostQueue, now: float, in_line_of: HostMachine | None = None) -> Handout | None:
        """Return a URL of a host that is ready, or put the host into the line of its machine."""
        if not host.open or host.ready_at > now:
            self._line_up(host)
            return None
        machine = host.machine
        if machine and machine is not in_line_of and not machine.is_free_for_all(now):
            self._wait_for(machine, host)
            return None
        handout = host.take(now)
        if machine and handout and handout.action is not Action.FORBIDDEN:
            asked = (machine, machine.address) if machine.address else (machine,)
            for one in asked:
                one.began(now)
            self._asked_of[handout] = asked
        # A host with many forbidden URLs goes to the back of the queue like any other host.
        self._line_up(host, now)
        return handout

    def _wait_for(self, machine: HostMachine, entry: Entry) -> None:
        machine.line.append(entry)
        self._in_line.add(entry)
        self._line_up_machine(machine)

    def _free(self, handout: Handout) -> None:
        """Record the end of a request for its machines, and find the machine of its host again."""
        host = self._hosts[handout.host]
        for machine in self._asked_of.pop(handout, ()):
            machine.ended()
            self._line_up_machine(machine)
        host.machine = self._machines.of(host)
        self._line_up(host)

    def _line_up(self, host: HostQueue, earliest: float = 0.0) -> None:
        # With several connections an answer can make a waiting host ready earlier, or close it. Its old entry
        # in the heap is then outdated, and is dropped when it reaches the top.
        if not host.open:
            self._ready_times.pop(host, None)
        elif host not in self._in_line:
            self._push(host, max(host.ready_at, earliest))

    def _line_up_machine(self, machine: HostMachine) -> None:
        if not machine.line or not machine.open:
            self._ready_times.pop(machine, None)
        elif machine not in self._in_line:
            self._push(machine, machine.ready_at)

    def _push(self, entry: Entry, time: float) -> None:
        if time < self._ready_times.get(entry, (inf, 0))[0]:
            arrival = next(self._arrivals)
            self._ready_times[entry] = time, arrival
            heappush(self._heap, (time, arrival, entry))
