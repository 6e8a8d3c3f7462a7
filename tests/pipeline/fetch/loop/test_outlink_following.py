"""Following on a made-up web, with a made-up clock: the queue is real, answers come after made-up times."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import Config, PolitenessSettings
from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.fetch.loop import outlink_following as module
from crawlctl.pipeline.fetch.loop.outlink_following import Following
from crawlctl.pipeline.fetch.loop.outlinks import URL_BYTES, FollowLimits, Outlinks
from crawlctl.pipeline.fetch.loop.planned_urls import PlannedUrls
from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls, Origin
from crawlctl.pipeline.fetch.select.selection import Due
from crawlctl.pipeline.politeness.handout import Handout, Reply
from crawlctl.pipeline.politeness.host_state import HostState, KnownRobots
from crawlctl.pipeline.politeness.polite_queue import PoliteQueue
from crawlctl.pipeline.robots.robots import Robots
from crawlctl.pipeline.urls.hosts import host_of, partition_of, webdb_key
from crawlctl.pipeline.webdb.entries import first_entry
from crawlctl.pipeline.webdb.records import Fresh, encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HOSTS = ("a.org", "b.org", "c.org")
WHILE = 5.0
TICK = 0.5
SETTINGS = PolitenessSettings(delay=Duration(1), response_factor=0.0, backoff=Duration(20))
NO_RULES = {scheme: KnownRobots(Robots("crawlctl"), 0.0, 200) for scheme in ("http", "https")}


class NoSitemaps:
    def __contains__(self, _url: str) -> bool:
        return False


class NoValidators:
    def of(self, _entry: object) -> tuple[str, str]:
        return "", ""


@dataclass
class Round:
    """One round of a task: what is due, where pages link to, how long answers take, and its limits."""

    due: Sequence[str]
    links: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    failing: Sequence[str] = ()
    max_pages: int = 1_000
    per_host: int | None = None
    follows: bool = True
    may_lengthen: bool = False
    tasks: int = 1
    partitions: int = 1
    to_parse: int = 0

    def __post_init__(self) -> None:
        self.asked: dict[str, float] = {}
        self.waited: dict[str, bool] = {}  # whether a URL of its host was due when a URL was asked for
        self.now = 0.0
        self.fresh = DiscoveredUrls()
        self.known = set(self.due)
        states = {host: HostState(robots=NO_RULES, pages=1) for host in HOSTS}
        self.queue = PoliteQueue(SETTINGS, "crawlctl", states, 0.0)
        validators = cast("Any", NoValidators())
        sitemaps = cast("Any", NoSitemaps())
        self.planned = PlannedUrls(self.queue, sitemaps, validators, Config(), self.max_pages)
        limits = FollowLimits(10, 1_000 * URL_BYTES, self.per_host)
        self.outlinks = Outlinks(self.fresh, lambda host: host in HOSTS, limits)
        self.outlinks.count(Counter(host_of(url).encode() for url in self.due))
        order = FetchOrder(
            store="x",
            snapshot=1,
            round=1,
            partition=0,
            partitions=self.partitions,
            deadline=0.0,
            max_pages=1,
            max_bytes=1,
            tasks=self.tasks,
            may_lengthen=self.may_lengthen,
        )
        self.following = Following(self.outlinks if self.follows else None, self.planned, self.queue, order)
        self.planned.add(due_of(url) for url in self.due)

    def run(self, until: float = 10_000.0) -> Round:
        """Do as the fetch loop does, until nothing is left or the time is over."""
        under_way: list[tuple[float, Handout]] = []
        while self.now < until:
            self.following.tend(self.now, self.to_parse)
            for handout in self.handouts():
                heapq.heappush(under_way, (self.now + self.seconds.get(handout.url, 0.2), handout))
            nearest = self.queue.next_time()
            if not under_way and (nearest is None or self.queue.only_failing_hosts_wait()):
                if self.following.goes_on(self.now):
                    continue
                break
            times = [self.now + TICK, *([under_way[0][0]] if under_way else ())]
            self.now = min(times if nearest is None else [*times, max(self.now, nearest)])
            while under_way and under_way[0][0] <= self.now:
                self.answered(heapq.heappop(under_way)[1])
        self.following.withdraw()
        return self

    def handouts(self) -> Iterator[Handout]:
        while (handout := self.queue.next_ready(self.now)) is not None:
            assert handout.url not in self.asked
            waiting = {url for url in self.due if url not in self.asked}
            self.waited[handout.url] = any(host_of(url) == handout.host for url in waiting)
            self.asked[handout.url] = self.now
            self.planned.request_for(handout)
            yield handout

    def answered(self, handout: Handout) -> None:
        if handout.host in self.failing:
            self.queue.finished(handout, self.now, Reply(None, 0.1, reason="timeout"))
            return
        self.queue.finished(handout, self.now, Reply(200, 0.1))
        origin = Origin(handout.url, 1, 1, 0.5)
        for url in self.links.get(handout.url, ()):
            self.fresh.add(origin, b"a.org", [(webdb_key(url), "")])
            if url not in self.known:
                self.known.add(url)
                self.outlinks.add([webdb_key(url)], 1)

    @property
    def followed(self) -> list[str]:
        return [url for url in self.asked if url not in self.due]


def due_of(url: str) -> Due:
    entry = first_entry(Fresh(1, score=0.5), 1)
    return Due(0.5, 0, -1, webdb_key(url), encode(entry))


def pages(host: str, count: int, name: str = "") -> list[str]:
    return [f"http://{host}/{name}{number}" for number in range(count)]


@pytest.fixture(autouse=True, scope="module")
def _looks_each_time() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LOOK", 0.0)
        patch.setattr(module, "_REST", 0)
        yield


def test_a_host_without_due_urls_gets_what_was_found_while_another_has_much_to_do() -> None:
    slow, found = pages("a.org", 20), pages("b.org", 5, "found")
    done = Round([*slow, "http://b.org/"], {"http://b.org/": found}).run()
    assert sorted(done.followed) == found
    assert max(done.asked.values()) < 20 * 1.3


def test_found_urls_of_found_pages_are_followed_too() -> None:
    chain = pages("b.org", 6)
    links = {chain[number]: [chain[number + 1]] for number in range(5)}
    assert Round([*pages("a.org", 20), chain[0]], links).run().followed == chain[1:]


def test_a_short_round_follows_nothing() -> None:
    links = {"http://b.org/": pages("b.org", 5, "found")}
    done = Round([*pages("a.org", 3), "http://b.org/"], links, may_lengthen=True).run()
    assert not done.followed


def test_while_pages_pile_up_before_the_parser_a_round_follows_nothing() -> None:
    links = {"http://b.org/": pages("b.org", 5, "found")}
    assert not Round([*pages("a.org", 20), "http://b.org/"], links, to_parse=17).run().followed


@pytest.mark.parametrize("may_lengthen", [False, True])
def test_only_a_round_that_may_be_longer_goes_on_for_what_it_has_found(may_lengthen: bool) -> None:
    due = pages("a.org", 10)
    done = Round(due, {due[0]: pages("a.org", 30, "found")}, may_lengthen=may_lengthen).run()
    assert len(done.followed) == (30 if may_lengthen else 0)
    assert not list(done.queue.left_over())


def test_a_failing_host_is_not_waited_for() -> None:
    links = {"http://b.org/": pages("b.org", 100, "found")}
    done = Round([*pages("a.org", 30), "http://b.org/"], links, failing=["a.org"]).run()
    assert len(done.followed) <= 2


def test_when_time_is_over_what_waits_is_left_to_the_next_round() -> None:
    links = {"http://b.org/": pages("b.org", 100, "found")}
    done = Round([*pages("a.org", 100), "http://b.org/"], links).run(until=12.0)
    left = {one.url for one in done.queue.left_over()}
    assert done.followed and left and left <= set(pages("a.org", 100))
    assert done.planned.total == 101 + len(done.followed)
    waiting = len(done.outlinks.hosts[b"b.org"])
    assert waiting + len(done.followed) == 100


@pytest.mark.parametrize(
    ("limits", "is_work"), [({}, False), ({"max_pages": 43}, True), ({"per_host": 3}, True)]
)
def test_a_round_that_goes_on_is_not_held_by_urls_for_which_its_limits_have_no_room(
    limits: dict[str, Any], is_work: bool
) -> None:
    due = [*pages("a.org", 40), "http://b.org/"]
    task = Round(due, {"http://b.org/": pages("b.org", 30, "found")}, may_lengthen=True, **limits)
    task.run(until=12.0)
    assert len(task.followed) >= 2 and task.outlinks.hosts[b"b.org"]
    assert task.following.has_found_work({b"b.org"}, {"a.org"}) is is_work


@pytest.mark.parametrize(("tasks", "is_work"), [(2, False), (1, True)])
def test_a_round_that_goes_on_leaves_other_partitions_to_their_tasks(tasks: int, is_work: bool) -> None:
    other = next(host for host in ("d.org", "e.org", "f.org") if partition_of(host, 2) == 1)
    task = Round(pages("a.org", 20), may_lengthen=True, tasks=tasks, partitions=2)
    assert task.following.has_found_work({other.encode()}, ())
    task.following.tend(0.0)
    assert task.following.has_found_work({other.encode()}, ()) is is_work
    assert not task.following.has_found_work({other.encode()}, {other})


URLS = [url for host in HOSTS for url in pages(host, 12)]
rounds = st.builds(
    Round,
    due=st.lists(st.sampled_from(URLS), unique=True, max_size=20),
    links=st.dictionaries(
        st.sampled_from(URLS), st.lists(st.sampled_from(URLS), unique=True, max_size=4), max_size=20
    ),
    seconds=st.dictionaries(st.sampled_from(URLS), st.sampled_from([0.1, 1.0, 4.0]), max_size=8),
    failing=st.lists(st.sampled_from(HOSTS), max_size=1),
    max_pages=st.one_of(st.just(1_000), st.integers(1, 30)),
    may_lengthen=st.booleans(),
)


@given(rounds)
def test_due_urls_come_first_and_within_the_budget(task: Round) -> None:
    done = task.run()
    assert len(done.asked) <= done.max_pages
    assert not any(done.waited[url] for url in done.followed)
    assert len(done.asked) == len(set(done.asked))
    left = {one.url for one in done.queue.left_over()}
    assert left <= set(done.due)
    if len(done.due) <= done.max_pages:
        assert set(done.due) <= left | done.asked.keys()


@given(rounds)
def test_due_urls_are_done_as_soon_as_without_following(task: Round) -> None:
    alone = Round(task.due, task.links, task.seconds, task.failing, task.max_pages, follows=False).run()
    done = task.run()
    for url, time in alone.asked.items():
        assert done.asked[url] == pytest.approx(time, abs=1e-6)
    if not task.may_lengthen:
        assert done.now <= alone.now + max(task.seconds.values(), default=0.2) + TICK
