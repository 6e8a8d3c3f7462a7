"""Whatever hosts do and in whatever order, the rules in the docstring of `politeness` hold."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from crawlctl.pipeline.config.settings import PolitenessSettings
from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.politeness.handout import Action, Handout, Reply
from crawlctl.pipeline.politeness.host_queue import ROUND_ENDED
from crawlctl.pipeline.politeness.polite_queue import PoliteQueue
from crawlctl.pipeline.robots.robots import robots_for_status
from crawlctl.tests.effort import examples

HOSTS = ("a.example.org", "b.example.org", "c.net")
ADDRESSES = ("", "192.0.2.1", "192.0.2.2")
DELAY = 2
GAP = 0.5  # between two requests to a machine
MAX_AT_MACHINE = 2
BACKOFF = 10
MAX_FAILURES = 4
MAX_PAGE_ERRORS = 3
BODIES = (
    b"",
    b"User-agent: *\nDisallow: /x",
    b"User-agent: *\nCrawl-delay: 7",
    b"User-agent: *\nDisallow: /",
)
REPLIES = st.builds(
    Reply,
    st.sampled_from([200, 200, 200, 404, 429, 500, 500, 503, None]),
    st.sampled_from([0.0, 0.3, 4.0]),
    st.sampled_from([None, None, 45.0]),
    st.sampled_from(ADDRESSES),
    st.just(False),
)
SILENT = ((None, "page"), (None, "robots"), (500, "robots"))  # what pauses a scheme and not its host


def origin(url: str) -> tuple[str, str]:
    return url.partition(":")[0], url.split("/")[2]


class PoliteCrawl(RuleBasedStateMachine):
    """Drives a queue, and keeps its own account of what is allowed."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000.0
        self.added: set[str] = set()
        self.handed_out: set[str] = set()
        self.under_way: list[Handout] = []
        self.last_event = dict.fromkeys(HOSTS, 0.0)
        self.last_seconds = dict.fromkeys(HOSTS, 0.0)
        self.paused_until = dict.fromkeys(HOSTS, 0.0)
        self.failures: Counter[tuple[str, str]] = Counter()
        self.page_errors: Counter[tuple[str, str]] = Counter()
        self.scheme_paused_until: dict[tuple[str, str], float] = {}
        self.down: set[tuple[str, str]] = set()
        self.address: dict[str, str] = {}
        self.place: dict[str, str] = {}  # of a domain
        self.machines_of: dict[Handout, set[str]] = {}
        self.machine_asked = dict.fromkeys((*ADDRESSES, "example.org", "c.net"), 0.0)
        self.set_aside: set[str] = set()
        self.held: set[str] = set()
        self.crawl_delay: dict[tuple[str, str], float] = {}
        self.robots: dict[tuple[str, str], tuple[float, Any]] = {}
        self.calls: list[tuple[str, tuple[Any, ...], Any]] = []

    @initialize(connections=st.sampled_from([0, 1, 2]), share=st.sampled_from([None, 3]))
    def start(self, connections: int, share: int | None) -> None:
        self.connections = connections
        self.settings = PolitenessSettings(
            delay=Duration(DELAY),
            backoff=Duration(BACKOFF),
            connections_per_host=connections,
            pages_per_host=share,
            max_failures=MAX_FAILURES,
            max_page_errors=MAX_PAGE_ERRORS,
            address_factor=GAP / DELAY,
            connections_per_address=MAX_AT_MACHINE,
            robots_tries=2,
        )
        self.queue = PoliteQueue(self.settings, "crawlctl", {}, self.now)

    def call(self, name: str, *arguments: Any) -> Any:
        result = getattr(self.queue, name)(*arguments)
        self.calls.append((name, arguments, result))
        return result

    @rule(
        host=st.sampled_from(HOSTS),
        scheme=st.sampled_from(["http", "https"]),
        page=st.sampled_from(["x1", "x2", "1", "2", "3", "4", "5"]),
        priority=st.integers(0, 2),
    )
    def add(self, host: str, scheme: str, page: str, priority: int) -> None:
        url = f"{scheme}://{host}/{page}"
        assert self.call("add", url, float(priority)) == (url not in self.added)
        self.added.add(url)

    @rule(seconds=st.sampled_from([0.5, 2.0, 10.0, 100.0, 4_000.0, 90_000.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(host=st.sampled_from(HOSTS))
    def hold(self, host: str) -> None:
        self.call("hold", host)
        if host in dict(self.queue.states()):
            self.held.add(host)

    @rule(host=st.sampled_from(HOSTS))
    def release(self, host: str) -> None:
        self.call("release", host)
        self.held.discard(host)

    @rule(host=st.sampled_from([*HOSTS, *["unknown"] * 12]))  # seldom, or little else would be tried
    def give_up(self, host: str) -> None:
        self.call("set_aside", host, "it is a nuisance")
        if host in dict(self.queue.states()):
            self.set_aside.add(host)

    @rule()
    def take_when_ready(self) -> None:
        self.now = max(self.now, self.queue.next_time() or 0.0)
        self.take()

    @rule()
    def take(self) -> None:
        handout = self.call("next_ready", self.now)
        assert handout is None or handout.host not in self.set_aside | self.held
        assert handout is None or origin(handout.url) not in self.down
        if handout is None:
            self.nobody_is_held_up()
        elif handout.action is Action.ROBOTS:
            self.begins(handout)
        else:
            self.turn_of_page(handout)

    @precondition(lambda self: self.under_way)
    @rule(data=st.data(), reply=REPLIES, body=st.sampled_from(BODIES))
    def answer(self, data: st.DataObject, reply: Reply, body: bytes) -> None:
        handout = self.under_way.pop(data.draw(st.integers(0, len(self.under_way) - 1)))
        self.answered(handout, reply, body)

    def turn_of_page(self, handout: Handout) -> None:
        assert handout.url in self.added
        assert handout.url not in self.handed_out
        self.handed_out.add(handout.url)
        read_at, robots = self.robots[handout.host, handout.url.partition(":")[0]]
        assert self.now - read_at <= 86_400
        assert robots.verdict(handout.url).allowed == (handout.action is Action.PAGE)
        if handout.action is Action.PAGE:
            self.begins(handout)

    def begins(self, handout: Handout) -> None:
        own = [other for other in self.under_way if other.host == handout.host]
        assert self.connections == 0 or len(own) < self.connections
        of_scheme = [other for other in own if origin(other.url) == origin(handout.url)]
        assert handout.action is Action.ROBOTS or all(other.action is Action.PAGE for other in of_scheme)
        assert self.now >= self.earliest(handout.host)
        assert self.now >= self.scheme_paused_until.get(origin(handout.url), 0.0)
        self.asks_machine(handout)
        self.under_way.append(handout)
        self.last_event[handout.host] = self.now

    def asks_machine(self, handout: Handout) -> None:
        self.machines_of[handout] = self.machines(handout.host)
        for machine in self.machines_of[handout] if self.connections else ():
            assert self.now >= self.machine_asked[machine] + GAP
            assert self.busy(machine) < MAX_AT_MACHINE
            self.machine_asked[machine] = self.now

    def machines(self, host: str) -> set[str]:
        domain = host[-11:]
        known = self.address.get(host)
        return {known} if known else {domain, self.place.get(domain, domain)}

    def busy(self, machine: str) -> int:
        return sum(machine in self.machines_of[handout] for handout in self.under_way)

    def answered(self, handout: Handout, reply: Reply, body: bytes) -> None:
        if handout.action is Action.ROBOTS:
            robots = robots_for_status(reply.status, body, "crawlctl")
            key = (handout.host, handout.url.partition(":")[0])
            if not robots.try_later:
                self.robots[key] = (self.now, robots)
                self.crawl_delay[key] = robots.crawl_delay or 0.0
            self.call("robots_finished", handout, self.now, reply, robots)
        else:
            self.call("finished", handout, self.now, reply)
        self.last_event[handout.host] = self.now
        self.last_seconds[handout.host] = reply.seconds
        self.address[handout.host] = reply.ip or self.address.get(handout.host, "")
        if self.address[handout.host]:
            self.place[handout.host[-11:]] = self.address[handout.host]
        if reply.status not in (429, 500, 503, None):
            self.failures[origin(handout.url)] = self.page_errors[origin(handout.url)] = 0
        else:
            self.failed(handout, reply)

    def failed(self, handout: Handout, reply: Reply) -> None:
        key = origin(handout.url)
        if handout.action is Action.PAGE and reply.status == 500 and reply.retry_after is None:
            self.page_errors[key] += 1
            is_of_host = not self.page_errors[key] % MAX_PAGE_ERRORS or self.failures[key] >= MAX_FAILURES
        else:
            is_of_host = True
        self.failures[key] += is_of_host
        if self.failures[key] >= MAX_FAILURES:
            self.down.add(key)
        pause = self.now + max(BACKOFF, reply.retry_after or 0)
        is_asked_for = reply.status is not None and reply.retry_after is not None
        if (reply.status, handout.action.value) in SILENT and not is_asked_for:
            self.scheme_paused_until[key] = max(self.scheme_paused_until.get(key, 0.0), pause)
        else:
            self.paused_until[handout.host] = max(self.paused_until[handout.host], pause)

    def earliest(self, host: str) -> float:
        crawl_delay = max(self.crawl_delay.get((host, scheme), 0.0) for scheme in ("http", "https"))
        delay = max(DELAY, crawl_delay, 5 * self.last_seconds[host])
        return max(self.paused_until[host], self.last_event[host] + delay)

    def nobody_is_held_up(self) -> None:
        states = dict(self.queue.states())
        stopped = {left.url for left in self.queue.left_over() if not left.reason.startswith(ROUND_ENDED)}
        for url in self.added - self.handed_out - stopped:
            host = url.split("/")[2]
            if host in self.held:
                continue
            own = [handout for handout in self.under_way if handout.host == host]
            full = 0 < self.connections <= len(own)
            waits_for_robots = any(
                handout.action is Action.ROBOTS and origin(handout.url) == origin(url) for handout in own
            )
            machine_waits = self.connections and any(
                self.busy(machine) >= MAX_AT_MACHINE or self.now < self.machine_asked[machine] + GAP
                for machine in self.machines(host)
            )
            is_early = states[host].schemes[url.partition(":")[0]].not_before > self.now
            assert full or waits_for_robots or machine_waits or is_early

    def run_to_the_end(self) -> None:
        while True:
            handout = self.call("next_ready", self.now)
            if handout is not None and handout.action is not Action.ROBOTS:
                self.turn_of_page(handout)
            elif handout is not None:
                self.begins(handout)
            elif (time := self.queue.next_time()) is not None:
                self.now = max(self.now, time)
            elif self.under_way:
                self.answered(self.under_way.pop(), Reply(200, 0.1), b"")
            else:
                return

    def teardown(self) -> None:
        if not hasattr(self, "queue"):
            return
        for host in HOSTS:
            self.release(host)
        self.run_to_the_end()
        left = [one.url for one in self.queue.left_over()]
        assert len(left) == len(set(left))
        assert self.handed_out.isdisjoint(left)
        assert self.handed_out.union(left) == self.added
        assert not any(one.reason.startswith(ROUND_ENDED) for one in self.queue.left_over())
        assert list(self.queue.busy_hosts()) == []
        self.the_same_calls_give_the_same_answers()

    def the_same_calls_give_the_same_answers(self) -> None:
        again = PoliteQueue(self.settings, "crawlctl", {}, 1_000.0)
        for name, arguments, result in self.calls:
            again.rest(self.now)
            assert getattr(again, name)(*arguments) == result


TestPoliteCrawl = PoliteCrawl.TestCase
TestPoliteCrawl.settings = hypothesis_settings(
    max_examples=examples(40), stateful_step_count=50, deadline=None
)
