"""What is asked for only if it has changed, seen from the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.webdb.records import Kind, Status
from crawlctl.tests.pipeline.fetch.crawl import Crawl, settings
from crawlctl.tests.pipeline.fetch.site import FILLER

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.tests.pipeline.fetch.crawl import Fetched
    from crawlctl.tests.pipeline.fetch.site import Site

NAMES_ANOTHER = '<link rel="canonical" href="/named">'


def next_visit(crawl: Crawl, site: Site, *paths: str) -> Fetched:
    """Let some time go by, and visit pages again."""
    for path in paths:
        entry = crawl.entry(site.url(path))
        assert entry is not None
        an_hour_ago = replace(
            entry, next_due=1, last_tried=entry.last_tried - 3600, last_fetched=entry.last_fetched - 3600
        )
        crawl.make_due((site.url(path), an_hour_ago))
    site.asked.clear()
    site.conditions.clear()
    return crawl.round()


def equal_pages(crawl: Crawl, site: Site) -> None:
    for path in ("/1", "/twin"):
        site.page(path, title="t", text=FILLER, ETag=f'"{path}"')
        crawl.inject(site.url(path))
    crawl.round()
    assert crawl.statuses(site.host) == {"/1": Status.FETCHED, "/twin": Status.DUPLICATE}


def test_a_crawl_visited_again_gives_nothing_but_304s(site: Site, crawl: Crawl) -> None:
    equal_pages(crawl, site)
    site.page("/draft", head='<meta name="robots" content="noindex">', ETag='"d"')
    site.page("/print", head=NAMES_ANOTHER, ETag='"p"')
    crawl.inject(site.url("/draft"), site.url("/print"))
    crawl.round()
    crawl.round()  # what was named is not there
    before = crawl.statuses(site.host)
    assert before["/draft"] is Status.EXCLUDED and before["/print"] is Status.DUPLICATE
    for _ in range(2):
        fetched = next_visit(crawl, site, "/1", "/twin", "/draft", "/print")
        assert set(fetched.kinds().values()) == {Kind.NOT_MODIFIED}
        assert crawl.statuses(site.host) == {**before, "/1": Status.UNCHANGED}


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


def test_a_page_may_not_stay_behind_one_that_the_rules_have_come_to_exclude(
    site: Site, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path / "c")
    site.page("/print", head=NAMES_ANOTHER, ETag='"p"')
    crawl.inject(site.url("/print"))
    crawl.round()
    crawl.config = settings(scope={"exclude": [site.url("/named")]})
    assert next_visit(crawl, site, "/print").indexed(site.host) == {"/print"}


@pytest.mark.parametrize("status", [200, 304])
def test_a_server_that_says_304_to_whatever_is_asked_has_not_answered(
    site: Site, crawl: Crawl, status: int
) -> None:
    site.page("/", ETag='"v1"')
    site.resources["/"].status = status
    crawl.inject(site.url())
    crawl.round()
    assert crawl.statuses(site.host)["/"] is (Status.FETCHED if status == 200 else Status.UNFETCHED)
