"""A task fetches URLs that it has found in the same round, within all limits, and loses none by a kill."""

from __future__ import annotations

import multiprocessing
import time
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.crawl.reports.run_report import open_round
from crawlctl.pipeline.fetch.loop import outlink_following
from crawlctl.pipeline.fetch.loop.parse_queue import ParseQueue
from crawlctl.pipeline.fetch.save.adoption import adopt_runs
from crawlctl.pipeline.fetch.supervisor import fetch_supervised
from crawlctl.pipeline.fetch.task import fetch_partition
from crawlctl.pipeline.urls.hosts import host_of, partition_of, url_of_key
from crawlctl.pipeline.webdb.due import DueCounts
from crawlctl.pipeline.webdb.records import Kind, Status
from crawlctl.tests.pipeline.fetch.crawl import Crawl, Fetched, settings
from crawlctl.tests.pipeline.fetch.site import LOOPBACK, Site, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.pipeline.fetch.order import FetchOrder

pytestmark = pytest.mark.slow

SLOW_PAGES = 12
FOUND = 6
FILES = ("/0", *(f"/found{number}" for number in range(FOUND)), "/deeper")


@pytest.fixture(autouse=True)
def _any_round_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlink_following, "_WHILE", 0.0)


@pytest.fixture
def sites() -> Iterator[tuple[Site, Site]]:
    """A host with twelve slow pages that are due, and one whose only due page leads to seven others."""
    with serving(2) as (slow, quick):
        for number in range(SLOW_PAGES):
            slow.page(f"/{number}")
        slow.seconds = 0.15
        quick.page("/0", *(f"/found{number}" for number in range(FOUND)))
        for number in range(FOUND):
            quick.page(f"/found{number}", "/deeper")
        quick.page("/deeper")
        yield slow, quick


def begin(folder: Path, sites: tuple[Site, Site], **sections: dict[str, Any]) -> Crawl:
    slow, quick = sites
    crawl = Crawl(folder / "crawl", settings(**sections))
    crawl.inject(quick.url("/0"), *(slow.url(f"/{number}") for number in range(SLOW_PAGES)))
    return crawl


def test_a_host_that_is_done_goes_on_with_what_was_found(sites: tuple[Site, Site], tmp_path: Path) -> None:
    slow, quick = sites
    crawl = begin(tmp_path, sites)
    fetched = crawl.round()
    assert sorted(quick.pages_asked()) == sorted(FILES)
    assert fetched.indexed(quick.host) >= set(FILES)
    assert len(slow.pages_asked()) == SLOW_PAGES
    opened = open_round(1, fetched.files)
    assert opened is not None and opened.without_handled(DueCounts(20, 0, 0)).now == 20 - SLOW_PAGES - 1
    found, deeper = crawl.entry(quick.url("/found1")), crawl.entry(quick.url("/deeper"))
    assert found is not None and (found.status, found.depth) == (Status.FETCHED, 1)
    assert deeper is not None and (deeper.depth, deeper.source) == (2, quick.url("/found0"))
    assert crawl.fetch().counters().get("pages", 0) == 0, "nothing is due"


def test_without_the_setting_all_new_urls_wait_for_the_next_round(
    sites: tuple[Site, Site], tmp_path: Path
) -> None:
    crawl = begin(tmp_path, sites, round={"follow_outlinks": False})
    crawl.round()
    assert sites[1].pages_asked() == ["/0"]
    assert set(crawl.fetch().kinds(sites[1].host)) == {f"/found{number}" for number in range(FOUND)}


@pytest.mark.parametrize(
    ("sections", "order", "pages"),
    [
        ({}, {"max_pages": SLOW_PAGES + 3}, 3),
        ({"politeness": {"pages_per_host": SLOW_PAGES}}, {}, len(FILES)),
        ({"politeness": {"pages_per_host": 4}}, {}, 4),
        ({"scope": {"max_depth": 0}}, {}, 1),
        ({"scope": {"max_depth": 6}}, {}, 1 + FOUND),  # the depth of /deeper is not certain yet
        ({"scope": {"max_depth": 10}}, {}, len(FILES)),
        ({"scope": {"exclude": ["regex:deeper"]}}, {}, 1 + FOUND),
    ],
)
def test_the_limits_of_a_round_hold(
    sites: tuple[Site, Site],
    tmp_path: Path,
    sections: dict[str, Any],
    order: dict[str, Any],
    pages: int,
) -> None:
    begin(tmp_path, sites, **sections).fetch(**order)
    assert len(sites[1].pages_asked()) == pages
    assert len(sites[1].pages_asked()) == len(set(sites[1].pages_asked()))


def test_robots_txt_holds_for_found_urls(sites: tuple[Site, Site], tmp_path: Path) -> None:
    quick = sites[1]
    quick.text("/robots.txt", "User-agent: *\nDisallow: /found")
    fetched = begin(tmp_path, sites).fetch()
    assert quick.pages_asked() == ["/0"]
    assert fetched.kinds(quick.host)["/found0"] is Kind.DISALLOWED


def test_hosts_of_other_partitions_are_left_alone(sites: tuple[Site, Site], tmp_path: Path) -> None:
    slow = sites[0]
    with serving(8) as others:
        away = next(site for site in others if partition_of(site.host, 2) != partition_of(slow.host, 2))
        near = next(site for site in others if partition_of(site.host, 2) == partition_of(slow.host, 2))
        crawl = Crawl(tmp_path / "c", settings(scope={"include": [LOOPBACK, "*"]}), partitions=2)
        slow.page("/9", away.url("/x"), near.url("/x"))
        near.page("/x")
        away.page("/x")
        crawl.inject(*(slow.url(f"/{number}") for number in range(SLOW_PAGES)))
        own = partition_of(slow.host, 2)
        fetched = Fetched(crawl.store, fetch_partition(crawl.order(own), crawl.store))
        assert near.pages_asked() == ["/x"] and not away.asked
        assert fetched.fresh().keys() >= {away.url("/x"), near.url("/x")}
        assert near.url("/x") in fetched.outcomes()


def test_a_known_host_that_the_round_does_not_ask_keeps_its_pause(
    sites: tuple[Site, Site], tmp_path: Path
) -> None:
    slow, quick = sites
    crawl = Crawl(tmp_path / "c", settings(scope={"include": [LOOPBACK, "*"]}))
    crawl.inject(quick.url("/deeper"))
    crawl.round()
    slow.page("/9", quick.url("/other"))
    quick.page("/other")
    crawl.inject(*(slow.url(f"/{number}") for number in range(SLOW_PAGES)))
    fetched = crawl.fetch()
    assert quick.url("/other") in fetched.fresh()
    assert "/other" not in quick.pages_asked()


def until(order: FetchOrder, crawl: Crawl, site: Site, pages: int, saved: int) -> None:
    deadline = time.monotonic() + 60
    while len(site.pages_asked()) < pages or len(done(order, crawl)) < saved:
        assert time.monotonic() < deadline, "the task does not fetch"
        time.sleep(0.01)


def done(order: FetchOrder, crawl: Crawl) -> set[str]:
    return {url_of_key(key) for key in adopt_runs(crawl.store, order.round, 0).done}


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "saved"), [(1, 1), (3, 4), (5, 8), (7, 10)])
def test_a_killed_round_ends_like_one_that_nobody_disturbed(
    sites: tuple[Site, Site], tmp_path: Path, asked: int, saved: int
) -> None:
    quick = sites[1]
    quick.seconds = 0.05
    whole = begin(tmp_path / "whole", sites)
    whole.round()
    crawl = begin(tmp_path / "killed", sites, round={"flush_pages": 1})
    for site in sites:
        site.asked.clear()
    order = crawl.order()
    child = multiprocessing.get_context("fork").Process(target=fetch_supervised, args=(order,))
    child.start()
    until(order, crawl, quick, asked, saved)
    child.kill()
    child.join()
    time.sleep(0.3)  # the child of the supervisor ends with it
    before = done(order, crawl)
    assert len(before) >= saved
    for site in sites:
        site.asked.clear()
    crawl.round()
    again = {site.url(path) for site in sites for path in site.pages_asked()}
    assert not again & before
    assert crawl.urls() == whole.urls()
    for url in whole.urls():
        mine, theirs = crawl.entry(url), whole.entry(url)
        assert mine is not None and theirs is not None
        assert (mine.status, mine.depth, mine.source) == (theirs.status, theirs.depth, theirs.source), url
        assert (mine.signature, mine.anchors, mine.hops) == (theirs.signature, theirs.anchors, theirs.hops)
        assert host_of(url) in (sites[0].host, sites[1].host)


def test_what_a_stopped_task_has_found_must_be_in_scope_when_it_goes_on(
    sites: tuple[Site, Site], tmp_path: Path
) -> None:
    quick = sites[1]
    quick.seconds = 0.1
    crawl = begin(tmp_path, sites)
    fetch_partition(crawl.order(), crawl.store, should_stop=lambda: len(quick.pages_asked()) >= 3)
    quick.asked.clear()
    crawl.config = settings(scope={"exclude": ["regex:found"]})
    crawl.fetch()
    assert not [path for path in quick.pages_asked() if "found" in path]


@pytest.mark.slow
def test_a_found_page_that_was_archived_and_not_parsed_is_parsed_without_a_request(
    sites: tuple[Site, Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = sites[1]
    crawl = begin(tmp_path, sites)
    with monkeypatch.context() as patch:
        stop_parsing(patch, after=quick.url("/0"))
        patch.setattr("crawlctl.pipeline.fetch.loop.fetch_loop._LAST_PARSING", 0.0)
        order = crawl.order()
        fetch_partition(order, crawl.store, should_stop=lambda: len(quick.pages_asked()) >= 4)
    asked = quick.pages_asked()
    archived = set(asked[1:-1])  # perhaps not the last one, which was under way
    assert asked[0] == "/0" and len(archived) >= 2
    assert not {quick.url(path) for path in archived} & done(order, crawl)
    quick.asked.clear()
    fetched = crawl.round()
    assert not archived & set(quick.pages_asked())
    fetched_paths = {path for path, kind in fetched.kinds(quick.host).items() if kind is Kind.FETCHED}
    assert fetched_paths >= set(FILES)


def stop_parsing(patch: pytest.MonkeyPatch, after: str) -> None:
    """Let a task parse nothing more after this page."""
    collect, parsed = ParseQueue.collect, set()

    def until_then(self: ParseQueue, wait: float) -> Iterator[Any]:
        if after in parsed:
            time.sleep(min(wait, 0.01))
            return
        for tag, result in collect(self, wait):
            parsed.add(tag.url)
            yield tag, result

    patch.setattr(ParseQueue, "collect", until_then)
