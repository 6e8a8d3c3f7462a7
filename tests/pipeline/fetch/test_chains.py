"""Redirects and meta refreshes in a row, by sites that have no end of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.webdb.records import Kind, Status
from crawlctl.tests.pipeline.fetch.crawl import Crawl, settings
from crawlctl.tests.pipeline.fetch.site import HTML, Resource

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.tests.pipeline.fetch.site import Site

TOO_LONG = "chain of more than {} redirects (fetch.max_redirects)"


class Endless(dict[str, Resource]):
    """Pages that each lead to the one with the next number: by a status, or by what stands in their head."""

    def __init__(self, status: int, head: str = "") -> None:
        super().__init__()
        self._status = status
        self._head = head

    def get(self, path: str, default: object = None) -> Resource:
        number = path.strip("/")
        if not number.isdigit():
            return Resource(b"", 404)
        onward = f"/{int(number) + 1}"
        body = f"<head><title>{path}</title>{self._head.format(onward)}</head><p>number {path}</p>"
        return Resource(body.encode(), self._status, {"Content-Type": HTML, "Location": onward})


CHAINS = {
    "moved": Endless(301),
    "found": Endless(302),
    "refresh at once": Endless(200, '<meta http-equiv="refresh" content="0; url={}">'),
    "refresh": Endless(200, '<meta http-equiv="refresh" content="3; url={}">'),
}


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
@pytest.mark.parametrize("limit", [0, 3])
def test_an_endless_chain_is_given_up(site: Site, tmp_path: Path, chain: Endless, limit: int) -> None:
    crawl = Crawl(tmp_path / "c", settings(fetch={"max_redirects": limit}))
    site.resources = chain
    crawl.inject(site.url("/0"))
    for _ in range(limit + 3):
        crawl.round()
    assert site.pages_asked() == [f"/{number}" for number in range(limit + 1)]
    last = crawl.entry(site.url(f"/{limit}"))
    assert last is not None
    assert (last.status, last.reason, last.redirect_to) == (Status.EXCLUDED, TOO_LONG.format(limit), "")
    assert site.url(f"/{limit + 1}") not in crawl.urls()


def test_a_chain_of_pages_that_each_name_the_next_is_not_followed_for_ever(
    site: Site, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path / "c", settings(fetch={"max_redirects": 2}))
    site.resources = Endless(200, '<link rel="canonical" href="{}">')
    crawl.inject(site.url("/0"))
    for _ in range(5):
        crawl.round()
    assert site.pages_asked() == ["/0", "/1", "/2"]
    assert crawl.statuses(site.host) == {
        "/0": Status.DUPLICATE,
        "/1": Status.DUPLICATE,
        "/2": Status.FETCHED,
    }


def test_each_redirect_behind_the_first_counts_as_depth(site: Site, crawl: Crawl) -> None:
    site.resources = Endless(302)
    crawl.inject(site.url("/0"))
    for _ in range(6):
        crawl.round()
    entries = [crawl.entry(site.url(f"/{number}")) for number in range(6)]
    assert [entry and (entry.hops, entry.depth) for entry in entries] == [
        (0, 0),
        (1, 0),
        (2, 1),
        (3, 2),
        (4, 3),
        (5, 4),
    ]


def test_the_last_level_is_reached_through_one_redirect_and_not_through_two(
    site: Site, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path / "c", settings(scope={"max_depth": 1}))
    site.page("/", "/old", "/older")
    site.redirect("/old", "/new")
    site.redirect("/older", "/less-old")
    site.redirect("/less-old", "/last")
    site.page("/new")
    site.page("/last")
    crawl.inject(site.url())
    for _ in range(4):
        crawl.round()
    assert crawl.statuses(site.host)["/new"] is Status.FETCHED
    assert "/last" not in site.asked and "/less-old" in site.asked


def test_a_url_that_is_also_linked_is_at_the_end_of_no_chain(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(fetch={"max_redirects": 1}))
    site.page("/", "/one")
    site.redirect("/zero", "/one")
    site.redirect("/one", "/two")
    site.page("/two")
    crawl.inject(site.url("/zero"), site.url())
    for _ in range(3):
        crawl.round()
    one = crawl.entry(site.url("/one"))
    assert one is not None and (one.hops, one.status) == (0, Status.REDIRECTED)
    assert crawl.statuses(site.host)["/two"] is Status.FETCHED


def test_two_that_redirect_to_each_other_are_two(site: Site, crawl: Crawl) -> None:
    site.redirect("/a", "/b", status=302)
    site.redirect("/b", "/a", status=302)
    crawl.inject(site.url("/a"))
    kinds = [crawl.round().kinds(site.host) for _ in range(4)]
    assert kinds == [{"/a": Kind.FOUND}, {"/b": Kind.FOUND}, {}, {}]
