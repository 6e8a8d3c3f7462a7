"""A host whose pages are made to be slow to parse does not take a round from the others."""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.fetch.save.adoption import adopt_runs
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.urls.hosts import url_of_key
from crawlctl.pipeline.webdb.records import Kind
from crawlctl.tests.pipeline.fetch.crawl import Crawl, settings
from crawlctl.tests.pipeline.fetch.site import Resource, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.tests.pipeline.fetch.site import Site

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("run_task.py")
GOOD, HOSTILE = 25, 20  # pages of a host
SLOW_PAGE = gzip.compress(b"<title>deep</title>" + b"<div>" * 70_000)  # some five CPU seconds
GZIPPED = {"Content-Type": "text/html", "Content-Encoding": "gzip"}


@pytest.fixture
def sites() -> Iterator[list[Site]]:
    """A hostile site and three good ones."""
    with serving(4) as served:
        hostile, *good = served
        for number in range(HOSTILE):
            hostile.resources[f"/{number}"] = Resource(SLOW_PAGE, headers=GZIPPED)
        for site in good:
            for number in range(GOOD):
                site.page(f"/{number}")
        yield served


def injected(folder: Path, sites: list[Site], **parse: str) -> Crawl:
    crawl = Crawl(folder, settings(parse=parse))
    hostile, *good = sites
    crawl.inject(*(hostile.url(f"/{number}") for number in range(HOSTILE)))
    crawl.inject(*(site.url(f"/{number}") for site in good for number in range(GOOD)))
    return crawl


def test_at_the_deadline_the_pages_of_the_good_hosts_are_saved(tmp_path: Path, sites: list[Site]) -> None:
    crawl = injected(tmp_path / "crawl", sites)
    started = time.monotonic()
    fetched = crawl.fetch(deadline=time.time() + 2)
    assert time.monotonic() - started < 15
    for good in sites[1:]:
        outcomes = [one for url, one in fetched.outcomes().items() if url.startswith(good.url())]
        assert [outcome.kind for outcome in outcomes] == [Kind.FETCHED] * GOOD
    assert sum(url.startswith(sites[0].url()) for url in fetched.outcomes()) < HOSTILE, "the rest stays due"


def test_a_stop_saves_the_pages_of_the_good_hosts(tmp_path: Path, sites: list[Site]) -> None:
    crawl = injected(tmp_path / "crawl", sites)
    order = crawl.order()
    process = subprocess.Popen([sys.executable, str(SCRIPT)], stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(encode_order(order))
    process.stdin.close()
    give_up = time.monotonic() + 60
    while any(len(good.pages_asked()) < GOOD for good in sites[1:]) and time.monotonic() < give_up:
        time.sleep(0.02)
    time.sleep(0.5)
    started = time.monotonic()
    process.terminate()
    process.wait(timeout=60)
    assert time.monotonic() - started < 10, "the driver kills what takes longer"
    saved = [url_of_key(key) for key in adopt_runs(crawl.store, order.round, 0).done]
    for good in sites[1:]:
        assert sum(url.startswith(good.url()) for url in saved) >= GOOD - 1, "one may have been under way"


@pytest.mark.integration
def test_a_host_that_has_used_up_its_time_is_set_aside(tmp_path: Path, sites: list[Site]) -> None:
    crawl = injected(tmp_path / "crawl", sites, time_limit="1s", host_time="2s")
    fetched = crawl.fetch()
    of_hostile = {
        url: outcome for url, outcome in fetched.outcomes().items() if url.startswith(sites[0].url())
    }
    salvaged = [outcome for outcome in of_hostile.values() if outcome.kind is Kind.FETCHED]
    given_up = [outcome for outcome in of_hostile.values() if outcome.kind is Kind.FAILED]
    assert 1 <= len(salvaged) <= 4
    assert given_up and all("parse.host_time = 2s" in outcome.reason for outcome in given_up)
    assert len(of_hostile) < HOSTILE, "what was not asked for stays due as it is"
    assert sum(kind is Kind.FETCHED for kind in fetched.kinds().values()) == 3 * GOOD + len(salvaged)


@pytest.mark.integration
def test_a_host_with_much_to_parse_is_held_while_others_go_on(
    tmp_path: Path, sites: list[Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawlctl.pipeline.fetch.loop.parse_queue._HOST_BYTES", 1 << 20)
    crawl = injected(tmp_path / "crawl", sites)
    crawl.fetch(deadline=time.time() + 3)
    # A body of 350 kB at a time, until more than a megabyte waits.
    assert 3 <= len(sites[0].pages_asked()) <= 5
    assert all(len(good.pages_asked()) == GOOD for good in sites[1:])
