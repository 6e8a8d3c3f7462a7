"""What strangers' bytes go through, by kind of input: each target takes bytes and must not raise.

What a target promises beyond that is asserted: two ways of reading agree, and what is read can be kept.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.config.settings import (
    BudgetSettings,
    Config,
    ParseSettings,
    ScopeSettings,
    SitemapSettings,
)
from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.fetch.pages.outcomes import has_content, outcome_of
from crawlctl.pipeline.formats.web_dates import parse_lastmod
from crawlctl.pipeline.http.exchange import Answer, Request, parse_headers, parse_retry_after
from crawlctl.pipeline.http.redirects import checked_url, redirect_of
from crawlctl.pipeline.imports.answer_reader import AnswerReader
from crawlctl.pipeline.robots.robots import Robots, robots_for_status
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.scope.url_budgets import UrlBudgets
from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapReader, read_sitemap, read_sitemap_body
from crawlctl.pipeline.text.documents.charset import decode
from crawlctl.pipeline.text.documents.document import (
    FetchedDocument,
    Parsed,
    ParseOutcome,
    ParseRules,
    parse_document,
    salvage_document,
)
from crawlctl.pipeline.text.documents.sniff import sniff
from crawlctl.pipeline.text.guarded.guard import Guard
from crawlctl.pipeline.text.html.directives import meta_robots, refresh_of, robots_tags
from crawlctl.pipeline.urls.canonical import canonical, canonical_link
from crawlctl.pipeline.urls.domains import registrable_domain
from crawlctl.pipeline.urls.hosts import host_of, partition_of, url_of_key, webdb_key
from crawlctl.pipeline.webdb.records import encode
from crawlctl.tests.bytes_source import BytesSource
from crawlctl.tests.fuzz.zip_seeds import EPUB_PARTS, OPEN_TYPE, zipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

BASE = "https://h.example/folder/page"
_PATHS = ("/", "/private/a.html", "/a?session=1&b", "/caf%C3%A9/~x", "/folder/index.html", "/" + "ab/" * 400)
_RULES = ParseRules()
_PIECE = 701  # bytes
_ZIP = b"PK"
_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_EPUB_TYPE = "application/epub+zip"
_OFFICE_PARTS = (
    ("word/document.xml", "docProps/core.xml"),
    ("xl/workbook.xml", "xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"),
    ("content.xml", "meta.xml"),
)
_decode_parsed = msgspec.msgpack.Decoder(Parsed).decode
_decode_robots = msgspec.msgpack.Decoder(Robots).decode


def html(data: bytes) -> None:
    """A page."""
    _parsed(data, "text/html")
    salvage_document(FetchedDocument(BASE, data, "text/html"), _RULES, ParseOutcome.TIMEOUT)


def xhtml(data: bytes) -> None:
    """A page in XML."""
    _parsed(data, "application/xhtml+xml")


def feeds(data: bytes) -> None:
    """A feed, as whatever a server calls it, and as a list of pages."""
    for content_type in ("application/rss+xml", "application/atom+xml", "text/xml", "text/html"):
        _parsed(data, content_type)
    sitemaps(data)


def sitemaps(data: bytes) -> None:
    """A sitemap: read at once and in pieces it lists the same pages."""
    content = read_sitemap_body(BASE, data, SitemapSettings())
    assert "reading it failed" not in content.problem, content.problem
    reader = SitemapReader(BASE, SitemapSettings())
    pieces = (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))
    assert list(read_sitemap(reader, pieces)) == content.pages
    assert msgspec.msgpack.decode(encode(content), type=type(content)) == content


def robots(data: bytes) -> None:
    """A robots.txt: what is kept of it gives the same verdicts."""
    read = robots_for_status(200, data, "crawlctl")
    kept = _decode_robots(encode(read))
    for path in _PATHS:
        assert kept.verdict(f"https://h.example{path}") == read.verdict(f"https://h.example{path}")


def headers(data: bytes) -> None:
    """The head of an answer, and all that is read from it."""
    fields = parse_headers(data)
    digits = data[9:12]
    status = int(digits) if digits.isdigit() else 200
    redirect, error = redirect_of(BASE, status, fields)
    named = dict(reversed(fields))
    answer = Answer(
        request=Request(BASE),
        url=BASE,
        started=1.8e9,
        error=error,
        status=status,
        headers=fields,
        redirect=redirect,
        retry_after=parse_retry_after(named.get("retry-after"), 1.8e9),
    )
    if not has_content(answer):
        encode(outcome_of(answer, 1))
    robots_tags(answer.all_headers("x-robots-tag"))
    decode(b"\xe9t\xe9 <p>", answer.content_type)
    sniff(answer.content_type, b"<html>")
    document = FetchedDocument(BASE, b"<p>x", answer.content_type, answer.header("content-language") or "")
    parse_document(document, _RULES)


def urls(data: bytes) -> None:
    """A link: its canonical form is ASCII, stays as it is, and can be a key."""
    text = data.decode("utf-8", "surrogateescape" if data[-1:] == b"\xff" else "replace")
    checked_url(text)
    with suppress(UrlError):
        _known(canonical_link(BASE, text))
    with suppress(UrlError):
        _known(canonical(text, ("utm_*", "sid")))


def _known(url: str) -> None:
    assert url.isascii()
    assert canonical(url) == url
    assert url_of_key(webdb_key(url)) == url
    host = host_of(url)
    registrable_domain(host)
    assert 0 <= partition_of(host, 7) < 7
    scope, budgets = _bounds()
    if scope.verdict(url, 1) is None:
        budgets.admit(url)
    robots_for_status(404, b"", "crawlctl").verdict(url)


@lru_cache(1)
def _bounds() -> tuple[Scope, UrlBudgets]:
    return Scope(ScopeSettings(include=("regex:.",))), UrlBudgets(BudgetSettings(), memory=1 << 20)


def dates(data: bytes) -> None:
    """A date, or another value of a header or meta element that has a grammar of its own."""
    text = data.decode("utf-8", "replace")
    parse_lastmod(text)
    wait = parse_retry_after(text, 1.8e9)
    assert wait is None or 0 <= wait <= 7 * 86400
    refresh_of(text)
    meta_robots("robots", text)
    robots_tags([text])


def charset(data: bytes) -> None:
    """Text in an encoding nobody knows for sure: what is read can be written."""
    for content_type in (
        "",
        "text/html; charset=gb2312",
        "text/plain; charset=" + data[:8].decode("latin-1"),
    ):
        decode(data, content_type).text.encode()
        decode(data, content_type, markup=False).text.encode()


def office(data: bytes) -> None:
    """An Office document; what is no ZIP file is a part of a Word, Excel and OpenDocument file."""
    if data.startswith(_ZIP):
        _parsed(data, _WORD_TYPE)
        return
    for parts in _OFFICE_PARTS:
        _parsed(zipped({**OPEN_TYPE, **dict.fromkeys(parts, data)}), "")


def epub(data: bytes) -> None:
    """An e-book; what is no ZIP file is its package file, and then its chapter."""
    if data.startswith(_ZIP):
        _parsed(data, _EPUB_TYPE)
        return
    for name in ("book.opf", "a.xhtml"):
        _parsed(zipped({**EPUB_PARTS, name: data}), _EPUB_TYPE)


def xml(data: bytes) -> None:
    """An XML document."""
    _parsed(data, "application/xml")


class Pdf:
    """A PDF. Its parser is C++ and may crash, so it goes through the helper process as in a crawl."""

    def __init__(self) -> None:
        self._guard: Guard | None = None

    def __call__(self, data: bytes) -> None:
        """Read a document; its helper may end, the crawl may not."""
        if self._guard is None:
            self._guard = Guard(ParseRules(ParseSettings(time_limit=Duration(2))))
        self._guard.parse(FetchedDocument(BASE, data, "application/pdf"))

    def close(self) -> None:
        """End the helper."""
        if self._guard is not None:
            self._guard.close()
            self._guard = None


def warc(data: bytes) -> None:
    """An archive."""
    for answer, _ in AnswerReader(Config()).answers(BytesSource(data)):
        assert answer.url.isascii()


def _parsed(data: bytes, content_type: str) -> None:
    parsed = parse_document(FetchedDocument(BASE, data, content_type), _RULES)
    if parsed.outcome is ParseOutcome.PARSED:
        assert _decode_parsed(encode(parsed)).page.title == parsed.page.title


TARGETS: dict[str, Callable[[bytes], None]] = {
    "html": html,
    "xhtml": xhtml,
    "feeds": feeds,
    "sitemaps": sitemaps,
    "robots": robots,
    "headers": headers,
    "urls": urls,
    "dates": dates,
    "charset": charset,
    "pdf": Pdf(),
    "office": office,
    "epub": epub,
    "xml": xml,
    "warc": warc,
}
# How many of a hundred inputs a target gets: cheap ones more.
SHARES: Mapping[str, int] = {
    "html": 4,
    "xhtml": 3,
    "feeds": 2,
    "sitemaps": 14,
    "robots": 14,
    "headers": 14,
    "urls": 20,
    "dates": 14,
    "charset": 6,
    "pdf": 1,
    "office": 2,
    "epub": 2,
    "xml": 2,
    "warc": 2,
}


def close_all(targets: Iterable[object]) -> None:
    """End what targets have started."""
    for target in targets:
        if isinstance(target, Pdf):
            target.close()
