"""Reads one sitemap or feed: the pages a host lists, and when they changed.

A sitemap is read only from the host whose robots.txt names it, and it may list only pages of that host (http
and https count as one host, another port is another host). The sitemap protocol says so, and we need it too:
a file on another host would be fetched past the politeness of the task that owns that host.

No bytes of a site can raise an error here. A sitemap that is broken, hostile or too large gives the entries
read so far, and `problem` says what was wrong. (ultimate-sitemap-parser fetches by itself, past the polite
queue, so we read with expat.)
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.formats.web_dates import parse_feed_date, parse_lastmod
from crawlctl.pipeline.sitemaps.feed_formats import ENTRY, UnusableSitemap
from crawlctl.pipeline.sitemaps.sitemap_encoding import BOM, DECLARATION_BYTES, Transcoder
from crawlctl.pipeline.sitemaps.sitemap_formats import Inflater, Reader, reader_for
from crawlctl.pipeline.urls.canonical import canonical, canonical_link
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.config.settings import SitemapSettings

_HELD = 16 << 10  # bytes collected before they are parsed, because each call of the parser costs time


class SitemapPage(NamedTuple):
    """A page in a sitemap or feed: its canonical URL, and UTC seconds, None if not given."""

    url: str
    lastmod: int | None  # when it changed
    published: int | None = None  # only feeds say it


class SitemapContent(msgspec.Struct, frozen=True, array_like=True):
    """The content of one sitemap; the helper process that parses sends it through a pipe."""

    pages: list[SitemapPage] = []
    children: list[str] = []  # the sitemaps that a sitemap index lists
    problem: str = ""  # why some entries were not read


class SitemapReader:
    """Reads one sitemap as its bytes arrive; when `done` is True, no more bytes are needed."""

    def __init__(self, url: str, settings: SitemapSettings, strip: tuple[str, ...] = ()) -> None:
        self.url = url
        self.children: list[str] = []  # the sitemaps that a sitemap index lists
        self.problem = ""
        self.done = False
        self.listed = 0  # entries of any kind
        self.foreign = 0  # entries on other hosts
        self.invalid = 0  # entries that are not URLs
        self._settings = settings
        self._strip = strip
        self._host = host_of(url)
        self._pages: list[SitemapPage] = []
        self._inflater = Inflater(settings.max_bytes)
        self._held = bytearray()
        self._transcoder: Transcoder | None = None
        self._reader: Reader | None = None

    def feed(self, data: bytes) -> list[SitemapPage]:
        """Take the next bytes of the body; return the pages whose entries are complete."""
        if not self.done:
            try:
                for inflated in self._inflater.feed(data):
                    self._held += inflated
                    if len(self._held) >= _HELD:
                        self._read_held()
            except UnusableSitemap as unusable:
                self._give_up(unusable)
        return self._take_pages()

    def close(self) -> list[SitemapPage]:
        """End the body; return the last pages."""
        if not self.done:
            try:
                self._held += self._inflater.close()
                self._read_held(final=True)
                if self._reader is not None:
                    self._reader.close()
                self.problem = self._skipped()
            except UnusableSitemap as unusable:
                self._give_up(unusable)
            self.done = True
        return self._take_pages()

    def _read_held(self, *, final: bool = False) -> None:
        if self._transcoder is None:
            self._held = self._held.lstrip()  # blank lines before an XML declaration are harmless
            if len(self._held) < DECLARATION_BYTES and not final:
                return
            self._transcoder = Transcoder(self._held)
        data = self._transcoder.feed(self._held, final=final)
        self._held.clear()
        if self._reader is None:
            data = data.removeprefix(BOM).lstrip()
            if not data:
                return
            self._reader = reader_for(data, self._found)
        self._reader.feed(data)

    def _found(self, kind: str, location: str, lastmod: str, published: str) -> None:
        if self.listed >= self._settings.max_urls:
            raise UnusableSitemap(f"it lists more than {self._settings.max_urls} URLs; the rest is left out")
        self.listed += 1
        try:
            if kind == ENTRY:  # feeds, unlike sitemaps, may have relative URLs
                url = canonical_link(self.url, location, self._strip)
            else:
                url = canonical(location, self._strip if kind == "url" else ())
        except UrlError:
            self.invalid += 1
            return
        if host_of(url) != self._host:
            self.foreign += 1
        elif kind == ENTRY:
            self._pages.append(SitemapPage(url, parse_feed_date(lastmod), parse_feed_date(published)))
        elif kind == "url":
            self._pages.append(SitemapPage(url, parse_lastmod(lastmod)))
        else:
            self.children.append(url)

    def _skipped(self) -> str:
        """Return a text about the entries that were left out; "" if none was."""
        counts = ((self.foreign, "on other hosts"), (self.invalid, "that are no URL"))
        skipped = " and ".join(f"{count} {kind}" for count, kind in counts if count)
        return f"{self.url}: {skipped} of {self.listed} entries are left out" if skipped else ""

    def _give_up(self, unusable: UnusableSitemap) -> None:
        self.problem = f"{self.url}: {unusable}"
        self.done = True
        with suppress(UnusableSitemap):
            self._read_held(final=True)  # the bytes before the trouble

    def _take_pages(self) -> list[SitemapPage]:
        pages, self._pages = self._pages, []
        return pages


def read_sitemap(reader: SitemapReader, chunks: Iterable[bytes]) -> Iterator[SitemapPage]:
    """Yield the pages of a sitemap whose body arrives in `chunks`."""
    for chunk in chunks:
        yield from reader.feed(chunk)
        if reader.done:
            break
    yield from reader.close()


def read_sitemap_body(
    url: str, body: bytes, settings: SitemapSettings, strip: tuple[str, ...] = ()
) -> SitemapContent:
    """Return the content of a sitemap; it never raises, not even for a bug of ours."""
    reader = SitemapReader(url, settings, strip)
    pages: list[SitemapPage] = []
    problem = ""
    try:
        pages.extend(read_sitemap(reader, (body,)))
    except MemoryError:
        raise
    except Exception as error:
        problem = f"{url}: reading it failed with {type(error).__name__}: {error}"
    return SitemapContent(pages, reader.children, problem or reader.problem)
