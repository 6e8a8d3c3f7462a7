"""Sitemaps: the pages a host lists by itself, and when they changed.

A sitemap is read only from the host whose robots.txt names it, and it speaks only for that host (http and
https are one, another port is another).  That is the rule of the protocol, and it is also ours: a file on
another host would be fetched past the politeness of the task which that host belongs to.

Nothing here raises for what a site sends.  A sitemap that is broken, hostile or too large gives what was
read of it until then, and `problem` says what was wrong.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.robots.lastmod import parse_lastmod
from crawlctl.pipeline.robots.sitemap_encoding import BOM, DECLARATION_BYTES, Transcoder
from crawlctl.pipeline.robots.sitemap_formats import Inflater, Reader, Unusable, reader_for
from crawlctl.pipeline.urls.canonical import canonical, canonical_link
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crawlctl.pipeline.config.settings import SitemapSettings

_QUEUED = 16 << 10  # bytes of URLs that are remembered of a host between rounds
_HELD = 16 << 10  # bytes gathered before they are read: a server that drips must not make us work for each


class SitemapPage(NamedTuple):
    """A page a sitemap lists, in canonical form, and the UTC second it says the page changed."""

    url: str
    lastmod: int | None


class SitemapContent(msgspec.Struct, frozen=True, array_like=True):
    """What was read of one sitemap; made to cross a pipe."""

    pages: list[SitemapPage] = []
    children: list[str] = []  # of a sitemap index
    problem: str = ""  # why not all of it was read
    listed: int = 0  # entries of any kind
    foreign: int = 0  # entries of other hosts
    invalid: int = 0  # entries that are no URL


class SitemapReader:
    """Reads one sitemap as its bytes arrive; `done` says that no more of them are wanted."""

    def __init__(self, url: str, settings: SitemapSettings, strip: tuple[str, ...] = ()) -> None:
        self.url = url
        self.children: list[str] = []  # of a sitemap index
        self.problem = ""
        self.done = False
        self.listed = 0
        self.foreign = 0  # entries of other hosts
        self.invalid = 0  # entries that are no URL
        self._settings = settings
        self._strip = strip
        self._host = host_of(url)
        self._pages: list[SitemapPage] = []
        self._inflater = Inflater(settings.max_bytes)
        self._held = bytearray()
        self._transcoder: Transcoder | None = None
        self._reader: Reader | None = None

    def feed(self, data: bytes) -> list[SitemapPage]:
        """Take the next bytes of the body and return the pages that are complete."""
        if not self.done:
            try:
                for piece in self._inflater.feed(data):
                    self._held += piece
                    if len(self._held) >= _HELD:
                        self._read_held()
            except Unusable as unusable:
                self._give_up(unusable)
        return self._take_pages()

    def close(self) -> list[SitemapPage]:
        """Say that the body has ended and return the last pages."""
        if not self.done:
            try:
                self._held += self._inflater.close()
                self._read_held(final=True)
                if self._reader is not None:
                    self._reader.close()
            except Unusable as unusable:
                self._give_up(unusable)
            self.done = True
        return self._take_pages()

    def _read_held(self, *, final: bool = False) -> None:
        if self._transcoder is None:
            self._held = self._held.lstrip()  # blank lines before an XML declaration do no harm
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

    def _found(self, kind: str, location: str, lastmod: str) -> None:
        if self.listed >= self._settings.max_urls:
            raise Unusable(f"it lists more than {self._settings.max_urls} URLs; the rest is left out")
        self.listed += 1
        try:
            url = canonical(location, self._strip if kind == "url" else ())
        except UrlError:
            self.invalid += 1
            return
        if host_of(url) != self._host:
            self.foreign += 1
        elif kind == "url":
            self._pages.append(SitemapPage(url, parse_lastmod(lastmod)))
        else:
            self.children.append(url)

    def _give_up(self, unusable: Unusable) -> None:
        self.problem = f"{self.url}: {unusable}"
        self.done = True
        with suppress(Unusable):
            self._read_held(final=True)  # came before the trouble

    def _take_pages(self) -> list[SitemapPage]:
        pages, self._pages = self._pages, []
        return pages


def read_sitemap(reader: SitemapReader, chunks: Iterable[bytes]) -> Iterator[SitemapPage]:
    """Yield the pages of a sitemap whose body comes in `chunks`."""
    for chunk in chunks:
        yield from reader.feed(chunk)
        if reader.done:
            break
    yield from reader.close()


def read_sitemap_body(
    url: str, body: bytes, settings: SitemapSettings, strip: tuple[str, ...] = ()
) -> SitemapContent:
    """Return what is in a sitemap; nothing a site sends makes it raise, a fault of ours neither."""
    reader = SitemapReader(url, settings, strip)
    pages: list[SitemapPage] = []
    problem = ""
    try:
        pages.extend(read_sitemap(reader, (body,)))
    except MemoryError:
        raise
    except Exception as error:
        problem = f"{url}: reading it failed with {type(error).__name__}: {error}"
    return SitemapContent(
        pages,
        reader.children,
        problem or reader.problem,
        listed=reader.listed,
        foreign=reader.foreign,
        invalid=reader.invalid,
    )


class SitemapQueue:
    """Which sitemaps of one host are read: in the order found, each once, within the bounds.

    `depths` and `waiting` are those of a pass over the sitemaps that an earlier round has begun.
    """

    def __init__(
        self,
        host: str,
        settings: SitemapSettings,
        depths: Mapping[str, int] | None = None,
        waiting: Iterable[str] = (),
    ) -> None:
        self.problems: list[str] = []
        self.depths = dict(depths or {})
        self.waiting = deque(waiting)
        self._host = host
        self._settings = settings
        self._bytes = sum(map(len, self.depths))

    def add_named(self, robots_url: str, names: Iterable[str]) -> tuple[str, ...]:
        """Queue the sitemaps that a robots.txt names and return those of them that may be read."""
        for name in names:
            try:
                self._add(canonical_link(robots_url, name), 1)
            except UrlError as error:
                self._refuse("robots.txt", f"names a sitemap that is no URL: {error}")
        return tuple(url for url, depth in self.depths.items() if depth == 1)

    def take(self) -> str | None:
        """Return the next sitemap to read, None when there is none."""
        return self.waiting.popleft() if self.waiting else None

    def add_children(self, parent: str, children: Iterable[str]) -> None:
        """Queue the sitemaps that a sitemap index lists."""
        depth = self.depths[parent] + 1
        for child in children:
            self._add(child, depth)

    def _add(self, url: str, depth: int) -> None:
        if url in self.depths:
            return
        if host_of(url) != self._host:
            self._refuse(url, f"lies on another host than {self._host}")
        elif depth > self._settings.max_depth:
            self._refuse(url, f"is nested deeper than sitemaps.max_depth = {self._settings.max_depth}")
        elif len(self.depths) >= self._settings.max_files:
            self._refuse(url, f"is one more than sitemaps.max_files = {self._settings.max_files}")
        elif self._bytes + len(url) > _QUEUED:
            self._refuse(url, f"is one more than {_QUEUED} bytes of URLs of sitemaps")
        else:
            self.depths[url] = depth
            self.waiting.append(url)
            self._bytes += len(url)

    def _refuse(self, url: str, why: str) -> None:
        # The first of a kind tells the story; a hostile index has fifty thousand.
        if not any(problem.endswith(why) for problem in self.problems):
            self.problems.append(f"{url}: {why}")
