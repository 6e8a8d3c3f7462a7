"""Pages that name another in their place, from the server to the statuses of the WebDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.webdb.records import Kind, Status
from crawlctl.tests.pipeline.fetch.visits import next_visit

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.fetch.crawl import Crawl
    from crawlctl.tests.pipeline.fetch.site import Site


def names(path: str) -> str:
    return f'<link rel="canonical" href="{path}">'


def test_a_page_that_names_another_is_indexed_until_the_merge_knows_better(site: Site, crawl: Crawl) -> None:
    site.page("/p?print=1", head=names("/p"))
    site.page("/p")
    crawl.inject(site.url("/p?print=1"))
    first = crawl.round()
    outcome = first.outcomes()[site.url("/p?print=1")]
    assert (outcome.kind, outcome.named, outcome.canonical) == (Kind.FETCHED, site.url("/p"), "")
    assert first.indexed(site.host) == {"/p?print=1"} and site.url("/p") in first.fresh()
    assert crawl.statuses(site.host)["/p?print=1"] is Status.FETCHED
    crawl.round()
    assert crawl.statuses(site.host) == {"/p": Status.FETCHED, "/p?print=1": Status.DUPLICATE}
    assert site.pages_asked() == ["/p?print=1", "/p"], "neither is fetched for the other's sake"


def test_a_stranger_is_not_believed(site: Site, crawl: Crawl) -> None:
    site.page("/q", head=names("https://elsewhere.example/q"))
    crawl.inject(site.url("/q"))
    outcome = crawl.round().outcomes()[site.url("/q")]
    assert (outcome.kind, outcome.named) == (Kind.FETCHED, "")


BAD_NAMES = {
    "gone": lambda site: site.text("/named", "", status=404),
    "forbidden": lambda site: site.text("/named", "", status=403),
    "failing": lambda site: site.text("/named", "", status=500),
    "redirects back": lambda site: site.redirect("/named", "/p"),
    "redirects on": lambda site: site.redirect("/named", "/named"),
    "left out": lambda site: site.page("/named", head='<meta name="robots" content="noindex">'),
    "no page": lambda site: site.text("/named", "\0\1", kind="application/x-thing"),
}


@pytest.mark.parametrize("spoil", BAD_NAMES.values(), ids=BAD_NAMES)
def test_a_page_whose_canonical_leads_nowhere_stays_in_the_index(
    site: Site, crawl: Crawl, spoil: object
) -> None:
    site.page("/p", head=names("/named"), ETag='"p"')
    spoil(site)  # type: ignore[operator]  # a function
    crawl.inject(site.url("/p"))
    for _ in range(3):
        crawl.round()
    assert crawl.statuses(site.host)["/p"] is Status.FETCHED
    assert next_visit(crawl, site, "/p").kinds(site.host)["/p"] is Kind.NOT_MODIFIED
    assert crawl.statuses(site.host)["/p"] is Status.UNCHANGED


def test_of_two_that_name_each_other_one_is_in_the_index(site: Site, crawl: Crawl) -> None:
    site.page("/1", head=names("/longer"))
    site.page("/longer", head=names("/1"))
    crawl.inject(site.url("/1"), site.url("/longer"))
    crawl.round()
    assert crawl.statuses(site.host) == {"/1": Status.FETCHED, "/longer": Status.DUPLICATE}


def test_when_the_page_named_dies_the_other_one_is_back_in_the_next_round(site: Site, crawl: Crawl) -> None:
    site.page("/p", head=names("/named"), ETag='"p"')
    site.page("/named", ETag='"n"')
    crawl.inject(site.url("/p"), site.url("/named"))
    crawl.round()
    assert crawl.statuses(site.host) == {"/named": Status.FETCHED, "/p": Status.DUPLICATE}
    assert next_visit(crawl, site, "/p").kinds(site.host) == {"/p": Kind.NOT_MODIFIED}
    site.text("/named", "", status=410)
    next_visit(crawl, site, "/named")
    site.conditions.clear()
    assert crawl.later_round().indexed(site.host) == {"/p"} and site.conditions == []
    assert crawl.statuses(site.host) == {"/named": Status.GONE, "/p": Status.FETCHED}
    site.page("/named")
    next_visit(crawl, site, "/named")
    assert crawl.statuses(site.host) == {"/named": Status.FETCHED, "/p": Status.DUPLICATE}
