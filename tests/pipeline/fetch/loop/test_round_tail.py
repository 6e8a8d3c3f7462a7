"""A round ends when it only waits for slow hosts while others have work; a slow site alone is not cut up."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.fetch.loop import fetch_loop as loop
from crawlctl.pipeline.fetch.loop import round_tail
from crawlctl.pipeline.fetch.loop.round_tail import RoundTail, is_over, is_tail
from crawlctl.pipeline.fetch.task import fetch_partition
from crawlctl.pipeline.http.engine import Engine
from crawlctl.pipeline.politeness.polite_queue import Rest
from crawlctl.pipeline.state.garbage import collect
from crawlctl.pipeline.state.journal import open_round_files, put_tail_report, saved_runs, tail_reports
from crawlctl.pipeline.urls.hosts import partition_of
from crawlctl.pipeline.webdb.records import Kind
from crawlctl.tests.pipeline.fetch.crawl import Crawl, Fetched, settings
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.http.exchange import Answer
    from crawlctl.tests.pipeline.fetch.site import Site

SLOW = Rest({"slow"}, 1, 100.0)


@pytest.mark.parametrize(
    ("rest", "in_flight", "answer"),
    [
        (SLOW, 0, True),
        (SLOW, 1, True),
        (SLOW, 30, False),  # connections are at work
        (SLOW._replace(machines=30), 0, False),  # many hosts are at work
        (Rest(set(), 0, 0.0), 0, False),  # the task is done
    ],
)
def test_a_task_waits_when_few_hosts_keep_few_connections_busy(
    rest: Rest, in_flight: int, answer: bool
) -> None:
    assert is_tail(rest._replace(in_flight=in_flight), 256) is answer


def test_a_round_is_over_when_all_tasks_wait_and_one_has_found_work() -> None:
    assert is_over({0: False, 1: True}, 2)
    assert not is_over({0: False, 1: False}, 2)
    assert not is_over({1: True}, 2)
    assert not is_over({}, 1)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def tail_of(crawl: Crawl, partition: int, clock: Clock, **changes: Any) -> RoundTail:
    changes = {"tail_wait": 10.0, "tasks": 2, "deadline": 5_000.0, **changes}
    return RoundTail(crawl.store, crawl.order(partition, **changes), clock)


def look(tail: RoundTail, *, ahead: float | None = 100.0, work: bool = False, fails: bool = False) -> bool:
    return tail.is_over(lambda: ahead, lambda: work, lambda: fails)


def test_a_task_waits_its_time_and_then_for_all_others(crawl: Crawl) -> None:
    clock = Clock()
    tail, other = tail_of(crawl, 0, clock), tail_of(crawl, 1, clock)
    assert not look(tail)
    clock.now += 9
    assert not look(tail) and tail_reports(crawl.store, 1, 5_000.0) == {}
    clock.now += 1
    assert not look(tail) and tail_reports(crawl.store, 1, 5_000.0) == {0: False}
    other.ended(has_work=True)
    assert not look(tail)  # it has listed a moment ago
    clock.now += 5
    assert look(tail)


def test_a_task_that_has_to_do_again_takes_back_what_it_said(crawl: Crawl) -> None:
    clock = Clock()
    tail = tail_of(crawl, 0, clock, tail_wait=0.0)
    look(tail, work=True)
    assert tail_reports(crawl.store, 1, 5_000.0) == {0: True}
    clock.now += 5
    look(tail, ahead=None)
    assert tail_reports(crawl.store, 1, 5_000.0) == {}


def test_hosts_that_turn_out_to_be_slow_late_are_not_waited_for_once_more(crawl: Crawl) -> None:
    clock = Clock()
    tail = tail_of(crawl, 0, clock, tasks=1)
    assert not look(tail, ahead=0.5, work=True)  # a request has just begun
    clock.now += 10
    assert look(tail, ahead=10.0, work=True)


def test_what_is_done_soon_is_waited_for(crawl: Crawl) -> None:
    clock = Clock()
    tail = tail_of(crawl, 0, clock, tasks=1)
    look(tail, work=True)
    clock.now += 10
    assert not look(tail, ahead=3.0, work=True)
    clock.now += 1
    assert look(tail, ahead=4.0, work=True)


def test_hosts_that_fail_are_not_waited_for(crawl: Crawl) -> None:
    clock = Clock()
    assert look(tail_of(crawl, 0, clock, tasks=1), ahead=None, work=True, fails=True)
    assert not look(tail_of(crawl, 0, clock, tasks=1), ahead=None, fails=True)
    assert not look(tail_of(crawl, 0, clock, tasks=1, tail_wait=None), work=True, fails=True)


def test_a_task_with_failing_hosts_alone_still_waits_for_the_others(crawl: Crawl) -> None:
    clock = Clock()
    tail, other = tail_of(crawl, 0, clock), tail_of(crawl, 1, clock)
    assert not look(tail, work=True, fails=True)
    other.ended(has_work=False)
    clock.now += 5
    assert look(tail, work=True, fails=True)


def test_a_task_that_waits_for_failing_hosts_hears_soon_that_the_others_have_ended(crawl: Crawl) -> None:
    clock = Clock()
    tail, other = tail_of(crawl, 0, clock), tail_of(crawl, 1, clock)
    assert not look(tail, work=True, fails=True)
    other.ended(has_work=False)
    clock.now += tail.pause
    assert clock.now < 101.0 and look(tail, work=True, fails=True)


def test_a_task_that_waits_long_asks_for_reports_every_few_seconds(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    listings: list[float] = []
    clock = Clock()

    def listed(*_: object) -> dict[int, bool]:
        listings.append(clock.now)
        return {}

    monkeypatch.setattr(round_tail, "tail_reports", listed)
    tail = tail_of(crawl, 0, clock)
    for _ in range(800):
        assert not look(tail, work=True, fails=True)
        clock.now += 0.25
    assert len(listings) < 100
    assert all(0 < one - before <= 3.25 for before, one in pairwise(listings))


def test_what_an_earlier_run_of_the_round_has_said_does_not_count(crawl: Crawl) -> None:
    clock = Clock()
    put_tail_report(crawl.store, 1, 1, 4_000.0, has_work=True)
    assert not look(tail_of(crawl, 0, clock, tail_wait=0.0))
    assert tail_reports(crawl.store, 1, 5_000.0) == {0: False}


def test_what_an_earlier_attempt_of_a_task_has_said_is_taken_back(crawl: Crawl) -> None:
    put_tail_report(crawl.store, 1, 0, 5_000.0, has_work=True)
    put_tail_report(crawl.store, 1, 1, 5_000.0, has_work=False)
    tail_of(crawl, 0, Clock()).begin()
    assert tail_reports(crawl.store, 1, 5_000.0) == {1: False}
    tail_of(crawl, 1, Clock(), tail_wait=None).begin()
    assert tail_reports(crawl.store, 1, 5_000.0) == {1: False}


def test_an_order_without_a_tail_wait_waits_for_all_hosts_and_says_nothing(crawl: Crawl) -> None:
    tail = tail_of(crawl, 0, Clock(), tail_wait=None)
    assert not look(tail, work=True)
    tail.ended(has_work=True)
    assert tail_reports(crawl.store, 1, 5_000.0) == {}


def test_a_lone_task_needs_nobody_to_end(crawl: Crawl) -> None:
    tail = tail_of(crawl, 0, Clock(), tasks=1, tail_wait=0.0)
    assert look(tail, work=True)
    assert tail_reports(crawl.store, 1, 5_000.0) == {}


def test_the_journal_and_gc_take_a_tail_report_for_what_it_is(
    crawl: Crawl, caplog: pytest.LogCaptureFixture
) -> None:
    put_tail_report(crawl.store, 1, 0, 5_000.0, has_work=True)
    assert len(open_round_files(crawl.store, 1)) == 1 and not caplog.records
    assert saved_runs(crawl.store, 1, 0) == []


def slow_site(site: Site, pages: int, *links: str) -> None:
    site.text("/robots.txt", "User-agent: *\nCrawl-delay: 1")
    for number in range(pages):
        site.page(f"/{number}", *links)


def test_a_slow_host_does_not_hold_up_what_another_has_found(tmp_path: Path) -> None:
    with serving(2) as (slow, quick):
        slow_site(slow, 11)
        quick.page("/", "/next")
        crawl = Crawl(tmp_path / "c")
        crawl.inject(quick.url(), *(slow.url(f"/{number}") for number in range(11)))
        started = time.monotonic()
        fetched = crawl.fetch(tail_wait=1.0)
        assert time.monotonic() - started < 15
    assert fetched.outcomes()[quick.url()].kind is Kind.FETCHED
    assert 0 < fetched.counters()["left"] < 11


def test_a_host_that_fails_does_not_hold_up_what_another_has_found(tmp_path: Path) -> None:
    with serving(2) as (failing, quick):
        failing.text("/robots.txt", "busy", status=503)
        quick.page("/", "/next")
        crawl = Crawl(tmp_path / "c", settings(politeness={"backoff": 60, "robots_tries": 3}))
        crawl.inject(quick.url(), failing.url())
        started = time.monotonic()
        fetched = crawl.fetch(tail_wait=40.0)
        assert time.monotonic() - started < 20
    assert fetched.outcomes().keys() == {quick.url()}
    state = fetched.hosts()[failing.host]
    assert state.failures and state.left == 1


@pytest.mark.slow
def test_an_answer_that_takes_longer_than_the_tail_wait_is_heard_all_the_same(tmp_path: Path) -> None:
    with serving(2) as (slow, quick):
        slow_site(slow, 11)
        for number in range(11):
            slow.resources[f"/{number}"].seconds = 5.0
        quick.page("/", "/next")
        crawl = Crawl(tmp_path / "c")
        crawl.inject(quick.url(), *(slow.url(f"/{number}") for number in range(11)))
        fetched = crawl.fetch(tail_wait=1.0)
    asked = [slow.url(path) for path in slow.pages_asked()]
    assert len(asked) == 1
    assert fetched.outcomes()[asked[0]].kind is Kind.FETCHED


@pytest.mark.slow
def test_an_answer_that_takes_much_longer_is_broken_off_and_heard_in_the_last_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "_LAST_ANSWERS", 1.0, raising=False)
    with serving(2) as (slow, quick):
        slow.page("/", title="slow")
        slow.resources["/"].seconds = 8.0
        quick.page("/", "/next")
        crawl = Crawl(tmp_path / "c", settings(fetch={"stall_time": 0}))  # in the process of the test
        crawl.inject(quick.url(), slow.url())
        started = time.monotonic()
        cut = crawl.round(tail_wait=1.0)
        assert time.monotonic() - started < 6
        assert cut.outcomes().keys() == {quick.url()}
        state = cut.hosts()[slow.host]
        assert (state.failures, state.reason, state.left) == (0, "", 1)
        assert state.last_seconds > 1
        assert "before its answer was whole" in state.left_reason
        whole = crawl.later_round()
    assert whole.outcomes()[slow.url()].kind is Kind.FETCHED


@pytest.mark.slow
def test_the_last_answers_are_awaited_and_not_asked_for_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    polls, poll = 0, Engine.poll

    def counting(engine: Engine, timeout: float = 1.0) -> list[Answer]:
        nonlocal polls
        polls += 1
        return poll(engine, timeout)

    monkeypatch.setattr(Engine, "poll", counting)
    with serving(3) as (slow, patient, quick):
        slow_site(slow, 11)
        for number in range(11):
            slow.resources[f"/{number}"].seconds = 5.0
        slow_site(patient, 11)  # its time comes again and again meanwhile
        quick.page("/", "/next")
        crawl = Crawl(tmp_path / "c")
        crawl.inject(
            quick.url(), *(site.url(f"/{number}") for site in (slow, patient) for number in range(11))
        )
        crawl.fetch(tail_wait=1.0)
    assert polls < 500


@pytest.mark.slow
def test_one_slow_site_is_not_cut_into_rounds(tmp_path: Path) -> None:
    with serving(1) as (slow,):
        slow_site(slow, 3, "/new")
        crawl = Crawl(tmp_path / "c")
        crawl.inject(*(slow.url(f"/{number}") for number in range(3)))
        assert len(crawl.fetch(tail_wait=0.0).outcomes()) == 3


@pytest.mark.slow
def test_tasks_of_two_partitions_agree_on_the_end_of_a_round(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(), partitions=2)
    with serving(8) as sites:
        slow, quick = (next(one for one in sites if partition_of(one.host, 2) == number) for number in (0, 1))
        slow_site(slow, 11)
        quick.page("/", "/next")
        crawl.inject(quick.url(), *(slow.url(f"/{number}") for number in range(11)))
        deadline = time.time() + 60
        orders = [crawl.order(number, tail_wait=1.0, tasks=2, deadline=deadline) for number in (0, 1)]
        files: list[Any] = []
        tasks = [
            threading.Thread(target=lambda order=order: files.extend(fetch_partition(order, crawl.store)))
            for order in orders
        ]
        started = time.monotonic()
        for task in tasks:
            task.start()
        for task in tasks:
            task.join()
        assert time.monotonic() - started < 20
    outcomes = Fetched(crawl.store, files).outcomes()
    assert quick.url() in outcomes and len(outcomes) < 12
    left = {name for name in open_round_files(crawl.store, 1) if "/tail-" in name}
    assert len(left) == 2
    crawl.round(tail_wait=None, max_pages=1)  # once the round is committed, what it said is litter
    collected = collect(crawl.store, keep=1, min_age=0, now=time.time() + 10)
    assert left <= {file.name for file in collected.files}
