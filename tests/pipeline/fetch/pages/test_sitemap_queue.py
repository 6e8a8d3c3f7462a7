"""Sitemaps are read when they are due, whether pages of their host are or not."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import RoundSettings, SitemapSettings
from crawlctl.pipeline.config.units import DAY
from crawlctl.pipeline.crawl.round_plan import plan_round
from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls
from crawlctl.pipeline.fetch.pages.discovery import LINK_SHARE, share_of
from crawlctl.pipeline.fetch.pages.sitemap_queue import SitemapPass, SitemapQueue
from crawlctl.pipeline.fetch.task import fetch_partition
from crawlctl.pipeline.http.exchange import Answer, Request
from crawlctl.pipeline.politeness.host_state import HostState, KnownSitemaps
from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapContent, SitemapPage
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.webdb.host_table import find_host
from crawlctl.pipeline.webdb.records import Kind
from crawlctl.tests.pipeline.fetch.crawl import Crawl, settings

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.tests.pipeline.fetch.site import Site

NOW = 1_800_000_000.0
DEFAULTS = SitemapSettings()


def lists(site: Site, path: str, *pages: str) -> None:
    entries = "".join(f"<url><loc>{site.url(page)}</loc></url>" for page in pages)
    site.text(path, f"<urlset>{entries}</urlset>")


def names(site: Site, *paths: str) -> None:
    site.text("/robots.txt", "\n".join(f"Sitemap: {site.url(path)}" for path in paths))


def often(**sections: dict[str, object]) -> Config:
    """Return settings with which sitemaps are due again at once; robots.txt is not."""
    return settings(sitemaps={"interval": "0s"}, **sections)


def sitemaps_of(crawl: Crawl, site: Site) -> KnownSitemaps:
    state = find_host(crawl.store, load_current(crawl.store), site.host)
    assert state is not None
    return state.sitemaps


def is_planned(crawl: Crawl, sitemaps: SitemapSettings) -> bool:
    snapshot = load_current(crawl.store)
    return bool(
        plan_round(
            crawl.store, snapshot, RoundSettings(), time.time(), sitemaps=sitemaps, fetch_time=60.0
        ).shares
    )


def test_a_crawl_whose_pages_all_rest_reads_the_sitemap_and_finds_new_pages(
    site: Site, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path / "c", often())
    names(site, "/s.xml")
    lists(site, "/s.xml", "/")
    site.page("/")
    crawl.inject(site.url())
    crawl.round()
    assert site.asked == ["/robots.txt", "/", "/s.xml"]
    lists(site, "/s.xml", "/", "/new")
    site.page("/new")
    site.asked.clear()
    assert is_planned(crawl, crawl.config.sitemaps)
    assert site.url("/new") in crawl.round().fresh()
    assert site.asked == ["/s.xml"]
    crawl.round()
    assert "/new" in site.asked


def test_sitemaps_that_were_read_are_left_alone_for_their_interval(site: Site, crawl: Crawl) -> None:
    names(site, "/s.xml")
    lists(site, "/s.xml", "/")
    site.page("/")
    crawl.inject(site.url())
    crawl.round()
    site.asked.clear()
    assert not is_planned(crawl, crawl.config.sitemaps)
    crawl.round()
    assert site.asked == []


@pytest.mark.slow
def test_a_pass_that_a_round_could_not_finish_goes_on_in_the_next(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c")
    names(site, "/index.xml", "/last.xml")
    child = f"<sitemap><loc>{site.url('/child.xml')}</loc></sitemap>"
    site.text("/index.xml", f"<sitemapindex>{child}</sitemapindex>")
    lists(site, "/child.xml", "/a")
    lists(site, "/last.xml", "/b")
    site.resources["/last.xml"].seconds = 5
    site.page("/")
    crawl.inject(site.url())
    order = crawl.order()
    fetch_partition(order, crawl.store, should_stop=lambda: "/last.xml" in site.asked)
    assert site.asked == ["/robots.txt", "/", "/index.xml", "/last.xml"]
    site.resources["/last.xml"].seconds = 0
    site.asked.clear()
    fetched = crawl.round()
    assert {site.url("/a"), site.url("/b")} <= set(fetched.fresh())
    assert sorted(site.asked) == ["/child.xml", "/last.xml"], "the index need not be read again"
    known = fetched.hosts()[site.host].sitemaps
    assert (known.depths, known.waiting) == ({}, ())
    assert not known.are_due(time.time(), DAY)


@pytest.mark.slow
def test_the_sitemaps_of_a_host_that_is_down_wait_for_their_next_interval(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", often(politeness={"robots_max_age": 1}))
    names(site, "/s.xml")
    lists(site, "/s.xml", "/")
    site.page("/")
    crawl.inject(site.url())
    crawl.round()
    time.sleep(1.1)
    site.text("/robots.txt", "", status=503)
    site.asked.clear()
    crawl.round()
    assert site.asked == ["/robots.txt"]
    known = sitemaps_of(crawl, site)
    assert known.waiting == (site.url("/s.xml"),)
    assert not known.are_due(time.time(), DAY)
    assert known.are_due(time.time() + DAY, DAY)


def test_sitemaps_that_list_nothing_of_the_crawl_are_not_read_for_their_own_sake(
    site: Site, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path / "c", often(scope={"include": [site.url("/in/")]}))
    names(site, "/s.xml")
    lists(site, "/s.xml", "/out")
    site.page("/in/")
    crawl.inject(site.url("/in/"))
    crawl.round()
    assert "/s.xml" in site.asked
    assert sitemaps_of(crawl, site).named == {}
    assert not is_planned(crawl, crawl.config.sitemaps)


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        ("<urlset><url>", 200, "its XML is broken"),
        ("gone", 404, "status 404"),
        ("<html/>", 200, "of type html"),
    ],
)
def test_what_was_wrong_with_a_sitemap_is_remembered_with_its_host(
    site: Site, crawl: Crawl, body: str, status: int, problem: str
) -> None:
    names(site, "/s.xml")
    site.text("/s.xml", body, status)
    site.page("/")
    crawl.inject(site.url())
    assert crawl.round().counters()["sitemap_problems"] == 1
    known = sitemaps_of(crawl, site)
    assert known.problem.startswith(site.url("/s.xml"))
    assert problem in known.problem


@pytest.mark.slow
def test_a_sitemap_that_robots_txt_no_longer_names_is_forgotten(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", often(politeness={"robots_max_age": 1}))
    names(site, "/s.xml")
    lists(site, "/s.xml", "/")
    site.page("/")
    crawl.inject(site.url())
    crawl.round()
    time.sleep(1.1)
    names(site)
    crawl.round()
    assert not any(sitemaps_of(crawl, site).named.values())


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/robots.txt", "gopher://127.0.0.1/"]
)
def test_a_robots_txt_that_leads_away_from_http_is_not_followed(
    site: Site, crawl: Crawl, target: str
) -> None:
    site.redirect("/robots.txt", target)
    site.page("/")
    crawl.inject(site.url())
    crawl.round()
    assert site.asked == ["/robots.txt", "/"]


@pytest.mark.parametrize(
    ("known", "due"),
    [
        (KnownSitemaps(), False),
        (KnownSitemaps({"http": ()}), False),
        (KnownSitemaps({"http": ("http://h/s.xml",)}), True),
        (KnownSitemaps({"http": ("http://h/s.xml",)}, NOW - DAY + 1), False),
        (KnownSitemaps({"http": ("http://h/s.xml",)}, NOW - DAY), True),
        (KnownSitemaps({"http": ("http://h/s.xml",)}, NOW + 9), True),  # the clock was set back
        (KnownSitemaps(waiting=("http://h/s.xml",)), True),
    ],
)
def test_sitemaps_are_due_an_interval_after_they_were_read(known: KnownSitemaps, due: bool) -> None:
    assert HostState(sitemaps=known).sitemaps_due(NOW, DEFAULTS) is due
    assert not HostState(not_before=NOW + 3600, sitemaps=known).sitemaps_due(NOW, DEFAULTS)
    assert not HostState(sitemaps=known).sitemaps_due(NOW, SitemapSettings(max_files=0))


class Nothing:
    """Stands in for what the pages of sitemaps go to."""

    name = "nothing"

    def listed(self, *_found: object) -> None:
        pass

    def in_scope(self, _url: str) -> bool:
        return True

    def get(self, _key: bytes) -> None:
        return None


def url_of(number: int) -> str:
    return f"http://h/{number}.xml"


def one_round(state: HostState, tree: dict[int, list[int]], answers: int, read: list[str]) -> HostState:
    """Give so many answers to a host that has sitemaps, and return what is remembered of it."""
    nothing: Any = Nothing()
    sitemaps = SitemapQueue(DEFAULTS, nothing, nothing, count=lambda *_: None, states={"h": state}, now=NOW)
    if state.sitemaps.named:
        asked = sitemaps.resume("h") if state.sitemaps_due(NOW, DEFAULTS) else []
    else:
        asked = sitemaps.named("http://h/robots.txt", [url_of(0), url_of(1)])
    for _ in range(answers):
        if not asked:
            break
        url = asked.pop()
        read.append(url)
        number = int(url[len("http://h/") : -len(".xml")])
        content = SitemapContent(children=[url_of(child) for child in tree.get(number, ())])
        answer = Answer(request=Request(url), url=url, started=NOW, status=200)
        asked += sitemaps.read(answer, content, DiscoveredUrls())[0]
    kept = msgspec.msgpack.encode(sitemaps.remembered("h", state))
    return msgspec.msgpack.decode(kept, type=HostState)


TREES = st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 12), max_size=4), max_size=8)


@given(TREES, st.lists(st.integers(0, 4), max_size=12))
def test_however_rounds_end_each_sitemap_is_read_once(tree: dict[int, list[int]], ends: list[int]) -> None:
    in_pieces: list[str] = []
    state = HostState()
    for answers in (*ends, 100, 100):
        state = one_round(state, tree, answers, in_pieces)
    at_once: list[str] = []
    one_round(HostState(), tree, 100, at_once)
    assert sorted(in_pieces) == sorted(set(at_once))
    assert (state.sitemaps.read_at, state.sitemaps.waiting) == (NOW, ())


ROBOTS = "https://example.org/robots.txt"


def named(*urls: str, settings: SitemapSettings = DEFAULTS) -> SitemapPass:
    queue = SitemapPass("example.org", settings)
    queue.add_named(ROBOTS, urls)
    return queue


def test_sitemaps_are_read_in_the_order_found_and_once() -> None:
    queue = named("/a.xml", "https://example.org/b.xml", "/a.xml")
    assert queue.take() == "https://example.org/a.xml"
    queue.add_children(
        "https://example.org/a.xml", ["https://example.org/a.xml", "https://example.org/c.xml"]
    )
    assert [queue.take(), queue.take(), queue.take()] == [
        "https://example.org/b.xml",
        "https://example.org/c.xml",
        None,
    ]
    assert queue.problem == ""


def test_sitemaps_on_other_hosts_are_not_read() -> None:
    queue = named("https://cdn.example/a.xml")
    assert queue.take() is None
    assert "another host" in queue.problem


def test_a_sitemap_that_is_no_url_is_not_read() -> None:
    queue = named("http://[/")
    assert queue.take() is None
    assert "no URL" in queue.problem


def test_an_index_that_names_new_indexes_for_ever_comes_to_an_end() -> None:
    queue = named("/0.xml", settings=SitemapSettings(max_depth=4))
    taken = []
    while (url := queue.take()) is not None:
        taken.append(url)
        queue.add_children(url, [f"https://example.org/{len(taken)}.xml"])
    assert len(taken) == 4
    assert "sitemaps.max_depth = 4" in queue.problem


def test_no_more_files_are_read_than_the_limit() -> None:
    queue = named(*(f"/{number}.xml" for number in range(50)), settings=SitemapSettings(max_files=7))
    assert sum(1 for _ in iter(queue.take, None)) == 7
    assert queue.problem == "https://example.org/7.xml: is one more than sitemaps.max_files = 7"


def test_the_urls_of_sitemaps_take_a_bounded_memory() -> None:
    queue = named(*(f"/{number}" + "x" * 4000 for number in range(50)))
    assert sum(map(len, queue.depths)) <= 16_384
    assert "bytes of sitemap URLs" in queue.problem


def test_a_pass_over_sitemaps_goes_on_where_it_was_left() -> None:
    queue = named("/a.xml", "/b.xml")
    first = queue.take()
    assert first is not None
    queue.add_children(first, ["https://example.org/c.xml"])
    later = SitemapPass(
        "example.org", DEFAULTS, KnownSitemaps(depths=queue.depths, waiting=tuple(queue.waiting))
    )
    assert later.add_named(ROBOTS, ["/a.xml", "/b.xml"]) == (
        "https://example.org/a.xml",
        "https://example.org/b.xml",
    )
    assert list(iter(later.take, None)) == ["https://example.org/b.xml", "https://example.org/c.xml"]


def feed(site: Site, path: str, *pages: str, date: str = "") -> None:
    items = "".join(f"<item><link>{page}</link><pubDate>{date}</pubDate></item>" for page in pages)
    site.text(path, f"<rss><channel>{items}</channel></rss>", kind="application/rss+xml")


FEED_LINK = '<link rel="alternate" type="application/rss+xml" href="{}">'


def test_a_feed_that_a_page_names_is_read_at_once_and_then_with_the_sitemaps(
    site: Site, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path / "c", often())
    elsewhere = "http://other.example/feed"
    site.page("/", head=FEED_LINK.format("/feed") + FEED_LINK.format(elsewhere))
    feed(site, "/feed", "/new", "http://other.example/x")
    crawl.inject(site.url())
    fetched = crawl.round()
    assert site.pages_asked() == ["/", "/feed"]
    assert site.url("/new") in fetched.fresh()
    known = sitemaps_of(crawl, site)
    assert known.feeds == (site.url("/feed"),)
    assert "1 on other hosts" in known.problem
    feed(site, "/feed", "/newer")
    site.asked.clear()
    assert is_planned(crawl, crawl.config.sitemaps)
    assert site.url("/newer") in crawl.round().fresh()
    assert "/feed" in site.asked


@pytest.mark.slow
def test_the_date_of_an_entry_brings_a_page_back_before_it_is_due(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", often())
    site.page("/", head=FEED_LINK.format("/feed"))
    feed(site, "/feed", "/")
    crawl.inject(site.url())
    crawl.round()
    site.asked.clear()
    crawl.round()
    assert site.asked == ["/feed"]
    time.sleep(1.1)
    feed(site, "/feed", "/", date=time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime()))
    crawl.round()
    assert site.asked[1:] == ["/feed", "/"]


def test_a_feed_that_is_fetched_as_a_page_is_not_indexed_but_its_entries_are_found(
    site: Site, crawl: Crawl
) -> None:
    site.page("/", "/feed")
    feed(site, "/feed", "/entry")
    crawl.inject(site.url())
    crawl.round()
    fetched = crawl.round()
    assert site.url("/entry") in fetched.fresh()
    outcome = fetched.outcomes()[site.url("/feed")]
    assert outcome.kind is Kind.NOINDEX
    assert outcome.reason.startswith("feed: its entries are discovered")
    assert outcome.signature


def test_the_entries_of_a_feed_that_is_fetched_as_a_page_are_its_links(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(scope={"max_new_urls_per_page": 3}))
    site.page("/", "/feed")
    feed(site, "/feed", *[f"/entry?{number}" for number in range(5)], "/plain")
    crawl.inject(site.url())
    crawl.round()
    known = crawl.entry(site.url("/feed"))
    fetched = crawl.round()
    assert known is not None
    found = {url: (fresh.depth, fresh.score) for url, fresh in fetched.fresh().items()}
    taken = [site.url(path) for path in ("/entry?0", "/entry?1", "/entry?2", "/plain")]
    assert found == dict.fromkeys(taken, (known.depth + 1, share_of(known.score * LINK_SHARE, 6)))
    assert fetched.outcomes()[site.url("/feed")].links_taken == 3, "the next visit takes the rest"


def test_a_feed_that_asks_not_to_be_followed_gives_no_entries(site: Site, crawl: Crawl) -> None:
    site.page("/", "/feed")
    feed(site, "/feed", "/entry")
    site.resources["/feed"].headers["X-Robots-Tag"] = "nofollow"
    crawl.inject(site.url())
    crawl.round()
    fetched = crawl.round()
    assert "/feed" in site.asked
    assert site.url("/entry") not in fetched.fresh()


def test_a_pass_goes_on_if_its_feed_was_requested_as_a_page_before(site: Site, crawl: Crawl) -> None:
    both = FEED_LINK.format("/feed") + FEED_LINK.format("/other")
    site.page("/", "/feed", "/late")
    site.page("/late", head=both)
    site.resources["/late"].seconds = 0.3
    feed(site, "/feed", "/entry")
    feed(site, "/other", "/new")
    crawl.inject(site.url("/"))
    crawl.round()
    fetched = crawl.round()
    assert site.asked.count("/feed") == 1
    assert site.url("/new") in fetched.fresh()
    known = sitemaps_of(crawl, site)
    assert (known.waiting, known.depths) == ((), {})


NAMED = KnownSitemaps({"http": ("http://h/s.xml",)}, NOW - 60)


class Docs(Nothing):
    """Stands in for a crawl of the folder /docs/."""

    def in_scope(self, url: str) -> bool:
        return url.startswith("http://h/docs/")


def queue_of(crawl: Nothing, known: KnownSitemaps = NAMED) -> SitemapQueue:
    anything: Any = crawl
    states = {"h": HostState(sitemaps=known)}
    return SitemapQueue(DEFAULTS, anything, anything, count=lambda *_: None, states=states, now=NOW)


def answer_of(url: str, redirect: str | None = None) -> Answer:
    return Answer(
        request=Request(url), url=url, started=NOW, status=301 if redirect else 200, redirect=redirect
    )


def test_a_feed_without_pages_of_the_crawl_does_not_make_its_host_forget_its_sitemaps() -> None:
    queue = queue_of(Docs())
    (url,) = queue.found_feeds("http://h/docs/a", ["http://h/docs/feed"])
    queue.read(answer_of(url), SitemapContent(pages=[SitemapPage("http://h/blog/1", None)]), DiscoveredUrls())
    known = queue.remembered("h", HostState()).sitemaps
    assert known == replace(NAMED, feeds=(url,))
    later = queue_of(Docs(), known)
    assert later.found_feeds("http://h/docs/b", [url]) == [], "it is read again with the sitemaps"


def test_what_a_feed_leads_to_must_be_in_scope() -> None:
    queue = queue_of(Docs())
    (url,) = queue.found_feeds("http://h/docs/a", ["http://h/docs/feed"])
    index = SitemapContent(children=["http://h/private/s.xml", "http://h/docs/s.xml"])
    assert queue.read(answer_of(url), index, DiscoveredUrls())[0] == ["http://h/docs/s.xml"]
    away = answer_of("http://h/docs/s.xml", "http://h/private/s.xml")
    assert queue.read(away, None, DiscoveredUrls())[0] == []
    named = queue.named("http://h/robots.txt", ["http://h/s.xml"]) + queue.resume("h")
    assert named == ["http://h/s.xml"]
    assert queue.read(answer_of("http://h/s.xml"), index, DiscoveredUrls())[0] == ["http://h/private/s.xml"]


def test_the_shortest_feeds_of_a_host_are_kept() -> None:
    queue = queue_of(Nothing())
    of_posts = [f"http://h/2026/post-{number}/feed" for number in range(10, 20)]
    queue.found_feeds("http://h/", of_posts)
    queue.found_feeds("http://h/a", ["http://h/feed"])
    assert queue.remembered("h", HostState()).sitemaps.feeds == (*of_posts[:7], "http://h/feed")
    assert queue.found_feeds("http://h/b", of_posts) == []


def test_the_feeds_of_a_host_are_limited_and_keep_to_host_and_scope() -> None:
    nothing: Any = Nothing()
    queue = SitemapQueue(DEFAULTS, nothing, nothing, count=lambda *_: None, states={}, now=NOW)
    page = "https://a.example/"
    many = [f"https://a.example/{number}" for number in range(20)]
    assert queue.found_feeds(page, ["https://b.example/feed"]) == []
    assert queue.found_feeds(page, many) == many[:1], "one at a time"
    assert queue.found_feeds(page, many) == []
    state = queue.remembered("a.example", HostState())
    assert state.sitemaps.feeds == tuple(many[:8])
    assert state.sitemaps.read_at == 0.0, "the sitemaps were not read"
