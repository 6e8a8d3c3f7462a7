"""Rounds are not stretched by a slow host, and the crawl of slow hosts is not cut into small pieces."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.config.settings import CLUSTER_RUNNERS, RoundSettings
from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.crawl.round_pace import RoundPace
from crawlctl.pipeline.crawl.rounds import run_rounds
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import partition_of
from crawlctl.tests.pipeline.fetch.crawl import settings
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.crawl.reports.round_report import RoundReport


def test_a_round_waits_at_least_as_long_as_the_rest_of_a_round_takes() -> None:
    pace = RoundPace(RoundSettings(), "forked")
    assert pace.tail_wait == 15
    pace.round_done(overhead=60.0, hosts_done=3)
    assert pace.tail_wait == 60
    pace.round_done(overhead=2.0, hosts_done=1)
    assert pace.tail_wait == 15


def test_rounds_of_slow_hosts_alone_become_longer_and_longer() -> None:
    pace = RoundPace(RoundSettings(), "forked")
    waits = []
    for _ in range(4):
        pace.round_done(overhead=1.0, hosts_done=0)
        waits.append(pace.tail_wait)
    assert waits == [30, 60, 120, 240]
    pace.round_done(overhead=1.0, hosts_done=1)
    assert pace.tail_wait == 15


def test_a_new_crawl_soon_has_something_to_search_and_later_rounds_are_longer() -> None:
    pace = RoundPace(RoundSettings(), "forked")
    assert [pace.fetch_time(rounds, is_last=False) for rounds in (0, 1, 2, 3, 9, 10**6)] == [
        *(60, 120, 240),
        *(300, 300, 300),
    ]


def test_the_last_round_of_a_run_is_not_shortened() -> None:
    assert RoundPace(RoundSettings(), "forked").fetch_time(0, is_last=True) == 300


def test_where_merging_takes_long_rounds_are_longer_up_to_an_hour() -> None:
    pace = RoundPace(RoundSettings(), "forked")
    times = []
    for overhead in (2.0, 60.0, 900.0):
        pace.round_done(overhead, hosts_done=1)
        times.append(pace.fetch_time(50, is_last=False))
    assert times == [300, 600, 3600]


@pytest.mark.parametrize("runner", CLUSTER_RUNNERS)
def test_a_cluster_is_not_started_for_a_few_minutes(runner: str) -> None:
    assert RoundPace(RoundSettings(), runner).fetch_time(0, is_last=False) == 3600


@pytest.mark.parametrize("runner", ["forked", "hadoop"])
def test_a_time_that_the_user_has_set_holds_for_every_round(runner: str) -> None:
    pace = RoundPace(RoundSettings(max_time=Duration(7)), runner)
    pace.round_done(900.0, hosts_done=1)
    assert [pace.fetch_time(rounds, is_last=rounds == 5) for rounds in (0, 3, 5)] == [7, 7, 7]


@pytest.mark.integration
def test_generations_of_a_quick_host_pass_while_a_slow_one_waits(tmp_path: Path, scratch: Path) -> None:
    config = settings(
        round={"tail": "1s", "max_time": "15s"}, runner={"name": "forked", "tmp_dir": str(scratch)}
    )
    reports: list[RoundReport] = []
    with serving(8) as sites:
        slow, quick = (next(one for one in sites if partition_of(one.host, 2) == number) for number in (0, 1))
        slow.text("/robots.txt", "User-agent: *\nCrawl-delay: 4")
        for number in range(11):
            slow.page(f"/{number}")
        quick.page("/", "/1")
        quick.page("/1", "/2")
        quick.page("/2", "/3")
        quick.page("/3")
        work = Work(LocalStore(tmp_path / "c"), config, Display())
        seeds = [quick.url(), *(slow.url(f"/{number}") for number in range(11))]
        started = time.monotonic()
        run_rounds(work, iterations=3, partitions=2, seeds=seeds, done=reports.append)
        seconds = time.monotonic() - started
    assert quick.pages_asked() == ["/", "/1", "/2"]
    assert [report.seconds < 12 for report in reports] == [True, True, False]  # nothing comes after the last
    assert seconds < 40
    asked = [path for path in slow.asked if path != "/robots.txt"]
    assert len(asked) == len(set(asked)) >= 3
