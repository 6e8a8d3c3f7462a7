"""Rounds are not stretched by a slow host, and the crawl of slow hosts is not cut into small pieces."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.crawl.rounds import run_rounds
from crawlctl.pipeline.crawl.tail_pace import TailPace
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
    pace = TailPace(15)
    assert pace.tail == 15
    pace.round_done(overhead=60.0, hosts_done=3)
    assert pace.tail == 60
    pace.round_done(overhead=2.0, hosts_done=1)
    assert pace.tail == 15


def test_rounds_of_slow_hosts_alone_become_longer_and_longer() -> None:
    pace = TailPace(15)
    tails = []
    for _ in range(4):
        pace.round_done(overhead=1.0, hosts_done=0)
        tails.append(pace.tail)
    assert tails == [30, 60, 120, 240]
    pace.round_done(overhead=1.0, hosts_done=1)
    assert pace.tail == 15


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
