"""Feeds of all kinds, read as sitemaps: the links of their entries and when they changed."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import SitemapSettings
from crawlctl.pipeline.formats.web_dates import parse_feed_date
from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapContent, read_sitemap_body

URL = "https://a.example/blog/feed"
NOON = 1_767_268_800  # 2026-01-01 12:00:00 UTC
DAY_2020 = 1_577_836_800
MAIL, W3C = "Thu, 01 Jan 2026 13:00:00 +0100", "2026-01-01T12:00:00Z"

RSS_2 = f"""<?xml version="1.0"?><rss version="2.0" xmlns:atom="a" xmlns:media="m"><channel><link>/no</link>
<atom:link href="{URL}" rel="self"/><item><title>x</title><link> /one </link><pubDate>{MAIL}</pubDate>
<media:group><link>/not-a-page</link></media:group><atom:link rel="replies" href="/no"/></item>
<item><guid>https://a.example/two</guid><dc:date>{W3C}</dc:date></item>
<item><guid isPermaLink="false">tag:3</guid></item><item><link>three</link></item></channel></rss>"""
RSS_1 = f"""<rdf:RDF xmlns:rdf="r" xmlns="s"><channel rdf:about="x"><link>/no</link></channel>
<item rdf:about="y"><link>/one</link><dc:date>{W3C}</dc:date></item></rdf:RDF>"""
RSS_091 = f"""<?xml version="1.0"?><!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://n.example/rss.dtd">
<rss version="0.91"><channel><item><link>/one</link><pubDate>{MAIL}</pubDate></item></channel></rss>"""
ATOM = f"""<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://a.example/base/">
<link href="/s" rel="self"/><entry><link rel="edit" href="no"/><link href="one"/>
<published>2020-01-01</published><updated>{W3C}</updated>
<content type="xhtml"><div><link href="no"/></div></content></entry>
<entry xml:base="/other/"><link rel="alternate" href="two"/></entry></feed>"""
PREFIXED = (
    '<a:feed xmlns:a="x"><a:entry><a:link href="/one"/><a:published>2026</a:published></a:entry></a:feed>'
)
JSON = {
    "version": "https://jsonfeed.org/version/1.1",
    "items": [{"id": "1", "url": "/one", "date_published": W3C, "other": [1]}, {"id": "2", "url": None}],
}
CHANGED_JSON = {"version": "https://jsonfeed.org/version/1", "items": [{"url": "/one", "date_modified": W3C}]}


def read(feed: str | bytes, **limits: int) -> SitemapContent:
    body = feed.encode() if isinstance(feed, str) else feed
    return read_sitemap_body(URL, body, SitemapSettings(**limits))  # type: ignore[arg-type]


def pages(feed: str | bytes) -> list[tuple[str, int | None, int | None]]:
    content = read(feed)
    assert content.problem == ""
    return [
        (page.url.removeprefix("https://a.example"), page.lastmod, page.published) for page in content.pages
    ]


@pytest.mark.parametrize(
    ("feed", "entries"),
    [
        (RSS_2, [("/one", None, NOON), ("/two", None, NOON), ("/blog/three", None, None)]),
        (RSS_1, [("/one", None, NOON)]),
        (RSS_091, [("/one", None, NOON)]),
        (ATOM, [("/base/one", NOON, DAY_2020), ("/base/two", None, None)]),
        (PREFIXED, [("/one", None, NOON - 43200)]),
        (json.dumps(JSON), [("/one", None, NOON)]),
        (json.dumps(CHANGED_JSON), [("/one", NOON, None)]),
    ],
    ids=["RSS 2.0", "RSS 1.0", "RSS 0.91", "Atom", "Atom with prefixes", "JSON Feed", "JSON Feed, changed"],
)
def test_entries_have_a_url_and_say_when_they_were_changed_and_published(
    feed: str, entries: list[tuple[str, int | None, int | None]]
) -> None:
    assert pages(feed) == entries
    assert pages(gzip.compress(feed.encode())) == entries
    if feed.startswith("<?xml"):
        assert pages(feed.replace('"1.0"?>', '"1.0" encoding="utf-16"?>', 1).encode("utf-16")) == entries


@pytest.mark.parametrize(
    ("feed", "problem"),
    [
        ('<!DOCTYPE rss [<!ENTITY a "aaaa">]><rss><item><link>/&a;</link></item></rss>', "it has a DOCTYPE"),
        ("<rss>" + "<a>" * 40, "nested too deeply"),
        ("<rss><item><link>/one</link></item><item>", "its XML is broken"),
        ('{"version": 1', "it is JSON but no JSON Feed"),
        ('{"items": []}', "it is JSON but no JSON Feed"),
        ('{"version": "x", "items": [' + "[" * 100_000, "it is JSON but no JSON Feed"),
        ("{" + " " * (9 << 20), "it is JSON of more than 8388608 bytes"),
        ("<html></html>", "it is no sitemap or feed but a document of type html"),
    ],
)
def test_hostile_and_broken_feeds_give_what_was_read_before(feed: str, problem: str) -> None:
    content = read(feed)
    assert problem in content.problem
    assert [page.url for page in content.pages] in ([], ["https://a.example/one"])


def test_other_hosts_and_too_many_entries_are_left_out() -> None:
    feed = "<rss>" + "".join(f"<item><link>/{number}</link></item>" for number in range(5)) + "</rss>"
    assert "more than 3 URLs" in read(feed, max_urls=3).problem
    assert len(read(feed, max_urls=3).pages) == 3
    assert "1 on other hosts" in read("<rss><item><link>https://b.example/</link></item></rss>").problem


@pytest.mark.parametrize("text", ["", "yesterday", "Thu, 01 Jan 1970", "x" * 200, "Mon, 99 Foo 2026 1:1:1"])
def test_what_is_no_date(text: str) -> None:
    assert parse_feed_date(text) is None


@given(st.text(max_size=40))
def test_no_text_breaks_the_dates(text: str) -> None:
    stamp = parse_feed_date(text)
    assert stamp is None or stamp >= 0
