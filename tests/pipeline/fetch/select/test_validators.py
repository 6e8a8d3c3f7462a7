"""What is asked for only if it has changed, seen from the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.webdb.records import Kind, Status
from crawlctl.tests.pipeline.fetch.crawl import Crawl, settings
from crawlctl.tests.pipeline.fetch.site import FILLER
from crawlctl.tests.pipeline.fetch.visits import next_visit

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.tests.pipeline.fetch.site import Site

NAMES_ANOTHER = '<link rel="canonical" href="/named">'


def equal_pages(crawl: Crawl, site: Site) -> None:
    for path in ("/1", "/twin"):
        site.page(path, title="t", text=FILLER, ETag=f'"{path}"')
        crawl.inject(site.url(path))
    crawl.round()
    assert crawl.statuses(site.host) == {"/1": Status.FETCHED, "/twin": Status.DUPLICATE}


@pytest.mark.slow
def test_a_crawl_visited_again_gives_nothing_but_304s(site: Site, crawl: Crawl) -> None:
    equal_pages(crawl, site)
    site.page("/draft", head='<meta name="robots" content="noindex">', ETag='"d"')
    site.page("/named", ETag='"n"')
    site.page("/print", head=NAMES_ANOTHER, ETag='"p"')
    site.page("/print-of-print", head='<link rel="canonical" href="/print">', ETag='"pp"')
    crawl.inject(*map(site.url, ("/draft", "/print", "/print-of-print")))
    crawl.round()
    crawl.round()
    before = crawl.statuses(site.host)
    assert before["/draft"] is Status.EXCLUDED
    assert before["/print"] is before["/print-of-print"] is Status.DUPLICATE
    for _ in range(2):
        fetched = next_visit(crawl, site, *before)
        assert set(fetched.kinds().values()) == {Kind.NOT_MODIFIED}
        assert crawl.statuses(site.host) == {**before, "/1": Status.UNCHANGED, "/named": Status.UNCHANGED}


def test_a_duplicate_whose_leader_has_changed_gets_a_document_of_its_own(site: Site, crawl: Crawl) -> None:
    equal_pages(crawl, site)
    site.page("/1", text="something else by now", ETag='"new"')
    next_visit(crawl, site, "/1")
    fetched = next_visit(crawl, site, "/twin")
    assert site.conditions == [] and fetched.indexed(site.host) == {"/twin"}
    assert crawl.statuses(site.host) == {"/1": Status.FETCHED, "/twin": Status.FETCHED}


def test_a_duplicate_whose_leader_is_gone_gets_a_document_of_its_own(site: Site, crawl: Crawl) -> None:
    equal_pages(crawl, site)
    site.text("/1", "", status=410)
    next_visit(crawl, site, "/1")
    assert next_visit(crawl, site, "/twin").indexed(site.host) == {"/twin"}
    assert crawl.statuses(site.host) == {"/1": Status.GONE, "/twin": Status.FETCHED}


def test_a_duplicate_that_has_changed_itself_leaves_its_leader(site: Site, crawl: Crawl) -> None:
    equal_pages(crawl, site)
    site.page("/twin", text="grown up", ETag='"new"')
    assert next_visit(crawl, site, "/twin").indexed(site.host) == {"/twin"}
    assert crawl.statuses(site.host)["/twin"] is Status.FETCHED


def test_what_a_header_excludes_is_fetched_whole(site: Site, crawl: Crawl) -> None:
    site.page("/x", X_Robots_Tag="noindex", ETag='"x"')
    crawl.inject(site.url("/x"))
    crawl.round()
    site.page("/x", ETag='"x"')  # a header comes and goes without the page being another one
    assert next_visit(crawl, site, "/x").indexed(site.host) == {"/x"}


@pytest.mark.slow
def test_a_page_may_not_stay_behind_one_that_the_rules_have_come_to_exclude(
    site: Site, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path / "c")
    site.page("/named")
    site.page("/print", head=NAMES_ANOTHER, ETag='"p"')
    crawl.inject(site.url("/print"), site.url("/named"))
    crawl.round()
    assert crawl.statuses(site.host)["/print"] is Status.DUPLICATE
    crawl.config = settings(scope={"exclude": [site.url("/named")]})
    next_visit(crawl, site, "/named")
    assert crawl.later_round().indexed(site.host) == {"/print"}


@pytest.mark.parametrize("status", [200, 304])
def test_a_server_that_says_304_to_whatever_is_asked_has_not_answered(
    site: Site, crawl: Crawl, status: int
) -> None:
    site.page("/", ETag='"v1"')
    site.resources["/"].status = status
    crawl.inject(site.url())
    crawl.round()
    assert crawl.statuses(site.host)["/"] is (Status.FETCHED if status == 200 else Status.UNFETCHED)
