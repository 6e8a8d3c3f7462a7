"""Nothing that a host sends ends a fetch task: what goes wrong over it is an outcome of its URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.fetch.loop.internal_errors import is_ours, reason_of
from crawlctl.pipeline.webdb.records import Kind
from crawlctl.tests.pipeline.fetch.crawl import Crawl
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.fetch.pages.page_reader import Visit
    from crawlctl.tests.pipeline.fetch.site import Site

ERRORS = [
    ValueError("no such \x1b[31m page\n" + "x" * 999),
    MemoryError(),
    RecursionError(),
    LookupError("gb2312"),
]


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise TypeError("not even this")


def raising(
    original: Callable[..., object], error: Exception, is_bad: Callable[..., bool]
) -> Callable[..., object]:
    """Return the function with a fault that shows at some of its calls."""

    def faulty(*arguments: object, **named: object) -> object:
        if is_bad(*arguments):
            raise error
        return original(*arguments, **named)

    return faulty


def is_bad_page(_reader: object, visit: Visit, *_: object) -> bool:
    return visit.url.endswith("/bad")


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_page_that_our_code_fails_at_fails_alone(
    site: Site, crawl: Crawl, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    from crawlctl.pipeline.fetch.pages.page_reader import PageReader

    monkeypatch.setattr(PageReader, "read", raising(PageReader.read, error, is_bad_page))
    for path in ("/bad", "/1", "/2"):
        site.page(path)
    crawl.inject(*(site.url(path) for path in ("/bad", "/1", "/2")))
    fetched = crawl.fetch()
    assert fetched.kinds(site.host) == {"/bad": Kind.FAILED, "/1": Kind.FETCHED, "/2": Kind.FETCHED}
    reason = fetched.outcomes()[site.url("/bad")].reason
    assert reason.startswith(f"internal error: {type(error).__name__}")
    assert reason.isprintable() and len(reason) < 300
    assert fetched.counters()["internal_errors"] == 1


def test_an_answer_without_a_page_that_our_code_fails_at_fails_alone(
    site: Site, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crawlctl.pipeline.fetch.pages.page_reader import PageReader

    faulty = raising(PageReader.redirected, IndexError("oh"), is_bad_page)
    monkeypatch.setattr(PageReader, "redirected", faulty)
    site.redirect("/bad", "/1")
    site.page("/1")
    crawl.inject(site.url("/bad"), site.url("/1"))
    fetched = crawl.fetch()
    assert fetched.kinds(site.host) == {"/bad": Kind.FAILED, "/1": Kind.FETCHED}
    assert fetched.hosts()[site.host].failures == 0, "the host is not to blame"


def test_a_robots_txt_that_our_code_fails_at_closes_its_host_alone(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crawlctl.pipeline.robots.robots import Robots

    parse = raising(Robots.parse, ValueError("what"), lambda body, _agent: b"odd" in body)
    monkeypatch.setattr(Robots, "parse", parse)
    crawl = Crawl(tmp_path_factory.mktemp("crawl"))
    with serving(2) as (odd, good):
        odd.text("/robots.txt", "odd: yes")
        odd.page("/")
        good.text("/robots.txt", "User-agent: *\nDisallow:")
        good.page("/")
        crawl.inject(odd.url(), good.url())
        fetched = crawl.fetch()
        assert odd.pages_asked() == [] and good.pages_asked() == ["/"]
    assert fetched.outcomes()[good.url()].kind is Kind.FETCHED
    assert fetched.outcomes()[odd.url()].kind is Kind.FAILED
    assert "ValueError" in fetched.outcomes()[odd.url()].reason


@pytest.mark.parametrize(
    "encoding", ["gb2312", "utf-8mb4", "idna", "rot13", "undefined", "utf-7", "Shift_JIS"]
)
def test_a_sitemap_in_any_encoding_does_not_end_the_task(site: Site, crawl: Crawl, encoding: str) -> None:
    site.text("/robots.txt", f"Sitemap: {site.url('/sitemap.xml')}\nSitemap: {site.url('/more.xml')}")
    urls = f"<urlset><url><loc>{site.url('/listed')}</loc></url></urlset>"
    site.text("/sitemap.xml", f'<?xml version="1.0" encoding="{encoding}"?>{urls}')
    site.text("/more.xml", f"<urlset><url><loc>{site.url('/other')}</loc></url></urlset>")
    site.page("/")
    crawl.inject(site.url())
    fetched = crawl.fetch()
    assert fetched.kinds(site.host) == {"/": Kind.FETCHED}
    assert site.url("/other") in fetched.fresh(), "the next sitemap is read all the same"


def test_errors_of_the_store_end_the_task(site: Site, crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    from crawlctl.pipeline.fetch.pages.page_reader import PageReader

    full = StoreUnavailable("the disk is full; make room")
    monkeypatch.setattr(PageReader, "read", raising(PageReader.read, full, is_bad_page))
    site.page("/bad")
    crawl.inject(site.url("/bad"))
    with pytest.raises(StoreUnavailable):
        crawl.fetch()


def test_an_error_whose_own_words_fail_has_a_reason() -> None:
    assert reason_of(Unspeakable(), "http://a/") == "internal error: Unspeakable"
    assert not is_ours(Unspeakable())
