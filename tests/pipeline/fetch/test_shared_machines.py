"""A machine with as many names as it likes is asked no more often, and they do not fill the WebDB."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.webdb.part import scan
from crawlctl.tests.hostile.wildcard import SCOPE, wildcard_server
from crawlctl.tests.pipeline.fetch.crawl import Crawl, settings
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from pathlib import Path

PER_SECOND = 5


@pytest.mark.slow
def test_a_wildcard_domain_is_bounded_in_requests_and_hosts(tmp_path: Path) -> None:
    polite = settings(
        politeness={"delay": "1s"}, scope={"include": [SCOPE]}, budgets={"hosts_per_domain": 120}
    )
    crawl = Crawl(tmp_path / "c", polite)
    with wildcard_server() as machine:
        crawl.inject(machine.url("start"))
        for _ in range(4):
            fetched = crawl.round(now_shift=-5, deadline=time.time() + 3)
            assert fetched.hosts()
    hosts = {url for url, _ in scan(crawl.store, load_current(crawl.store), 0)}
    assert 50 < len(hosts) <= 120 + len(machine.asked) // 10
    assert machine.busiest_second() <= PER_SECOND + 1
    assert len(machine.asked) >= 3 * PER_SECOND  # it gets its share


def test_the_address_of_a_host_is_remembered(tmp_path: Path) -> None:
    with serving(1) as (site,):
        site.page("/")
        crawl = Crawl(tmp_path / "c")
        crawl.inject(site.url())
        assert crawl.fetch().hosts()[site.host].ip == "127.0.0.1"


def test_without_delay_hosts_at_one_address_wait_for_nobody(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c")
    with serving(12) as sites:
        for site in sites:
            site.page("/")
        crawl.inject(*(site.url() for site in sites))
        started = time.monotonic()
        assert len(crawl.fetch().outcomes()) == 12
        assert time.monotonic() - started < 10
