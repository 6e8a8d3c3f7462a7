"""Parses feeds (RSS 0.9x, 1.0 and 2.0, Atom, JSON Feed): links of entries, when published, when changed.

The XML of a feed is read by XmlReader (sitemap_formats.py), with the limits of sitemaps; this file knows what
its elements mean. An entry is an `item` or `entry` at any depth, so RSS 1.0, whose items stand beside the
channel, needs no rule of its own. feedparser reads more formats, but it needs the whole feed as a tree and
fetches by itself, without the crawl delays of our queue.

https://www.rssboard.org/rss-specification, https://www.rfc-editor.org/rfc/rfc4287,
https://www.jsonfeed.org/version/1.1/
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.urls.whatwg import MAX_URL_BYTES, join

if TYPE_CHECKING:
    from collections.abc import Callable

    # kind of the entry, its URL, when it changed, when it was published
    Found = Callable[[str, str, str, str], None]

FEED_ROOTS = frozenset({"rss", "rdf", "feed"})
FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json"})
ENTRY = "entry"  # the kind of an entry in a feed

_ENTRIES = frozenset({"item", ENTRY})
_LINK, _PERMALINK = "link", "guid"
_CHANGED = ("updated", "modified")
_PUBLISHED = ("pubdate", "published", "date", "issued")
_DATES = frozenset((*_CHANGED, *_PUBLISHED))
_BASE = "xml:base"
_MAX_JSON = 8 << 20  # the most bytes of a JSON Feed, which is parsed as a whole


class UnusableSitemap(Exception):
    """Raised when the rest of a sitemap or feed cannot or must not be read; the message says why."""


class FeedEntries:
    """Takes the elements of a feed one by one, and reports each entry when it ends."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._above: list[str] = []  # the tags of the open elements
        self._bases: list[tuple[int, str]] = []  # depth and value of the xml:base attributes in force
        self._entry: dict[str, str] | None = None
        self._entry_depth = 0
        self._prefix = ""  # the namespace prefix of the open entry
        self._part = ""  # the element of the open entry whose text is being read
        self._text: list[str] = []
        self._room = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        tag = tag.lower()
        self._above.append(tag)
        if _BASE in attributes:
            self._bases.append((len(self._above), attributes[_BASE]))
        prefix, _, local = tag.rpartition(":")
        if self._entry is None:
            if local in _ENTRIES and len(self._above) > 1:
                self._entry, self._prefix, self._entry_depth = {}, prefix, len(self._above)
        elif len(self._above) == self._entry_depth + 1:
            self._start_part(self._entry, prefix, local, attributes)

    def _start_part(self, entry: dict[str, str], prefix: str, local: str, attributes: dict[str, str]) -> None:
        if local == _LINK and "href" in attributes:
            if attributes.get("rel", "alternate") == "alternate":
                entry.setdefault(_LINK, self._based(attributes["href"]))
            return
        is_named = attributes.get("isPermaLink", "true").lower() != "false"
        # Dates have prefixes of their own (dc:date); elements of other kinds may be links of other things.
        if local in _DATES or (
            prefix == self._prefix and (local == _LINK or (local == _PERMALINK and is_named))
        ):
            self._part, self._text, self._room = local, [], MAX_URL_BYTES

    def characters(self, text: str) -> None:
        """Take a piece of text."""
        if self._part and self._room >= 0:
            self._text.append(text)
            self._room -= len(text)

    def end(self, _tag: str) -> None:
        """Take the end of an element."""
        depth = len(self._above)
        if self._entry is not None and self._part and depth == self._entry_depth + 1:
            text = "".join(self._text).strip()
            if text:
                self._entry.setdefault(self._part, self._based(text) if self._part == _LINK else text)
            self._part = ""
        elif self._entry is not None and depth == self._entry_depth:
            entry, self._entry = self._entry, None
            url = entry.get(_LINK) or entry.get(_PERMALINK)
            if url:
                self._found(ENTRY, url, _first(entry, _CHANGED), _first(entry, _PUBLISHED))
        if self._bases and self._bases[-1][0] == depth:
            self._bases.pop()
        self._above.pop()

    def _based(self, url: str) -> str:
        """Return a URL as the xml:base attributes around it mean it; it may still be relative to the feed."""
        for _, base in reversed(self._bases):
            try:
                return join(base, url)
            except UrlError:
                continue
        return url


def _first(entry: dict[str, str], names: tuple[str, ...]) -> str:
    return next((entry[name] for name in names if name in entry), "")


class _JsonItem(msgspec.Struct):
    url: str | None = None
    date_modified: str | None = None
    date_published: str | None = None


class _JsonFeed(msgspec.Struct):
    version: str
    items: list[_JsonItem] = []


class JsonFeedReader:
    """Reads a JSON Feed; it reports entries only when it has the whole feed."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._body = bytearray()

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the feed, in UTF-8."""
        self._body += data
        if len(self._body) > _MAX_JSON:
            raise UnusableSitemap(f"it is JSON of more than {_MAX_JSON} bytes")

    def close(self) -> None:
        """End the feed, and report its entries."""
        try:
            feed = msgspec.json.decode(self._body, type=_JsonFeed, strict=False)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise UnusableSitemap(f"it is JSON but no JSON Feed: {error}") from error
        for item in feed.items:
            if item.url:
                self._found(ENTRY, item.url, item.date_modified or "", item.date_published or "")
