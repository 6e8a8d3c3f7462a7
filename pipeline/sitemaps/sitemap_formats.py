"""Parses the formats of a sitemap as bytes arrive: XML, feeds, plain text, and all of them gzipped.

Sitemaps are untrusted input. A DOCTYPE is refused before it can declare an entity; a feed may have one that
declares nothing, as RSS 0.91 demands. Decompressed bytes, gzip members and elements are counted while they
are read. A tag or line that does not end is given up (expat before 2.6 would scan such a tag again with each
chunk).

The readers get UTF-8 (sitemap_encoding.py), because expat knows only four encodings and raises for most
others.

https://www.sitemaps.org/protocol.html
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias
from xml.parsers import expat

from crawlctl.pipeline.sitemaps.feed_formats import FEED_ROOTS, FeedEntries, JsonFeedReader, UnusableSitemap
from crawlctl.pipeline.urls.whatwg import MAX_URL_BYTES, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.sitemaps.feed_formats import Found

_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 64 << 10
_MAX_MEMBERS = 10_000  # per gzip file; block gzip (bgzip) writes one for each 64 KB
_MAX_LINE = 16 << 10
_MAX_TAG = 256 << 10
_MAX_DEPTH = 32
# twenty elements for each of 50,000 pages; reading them takes about a second of CPU time
_MAX_ELEMENTS = 1_000_000
_KIND_OF_ENTRY = {"urlset": "url", "sitemapindex": "sitemap"}


class Inflater:
    """Returns the bytes of a file, inflated if it is gzip, and raises after more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit
        self._start = b""
        self._plain: bool | None = None  # None until the first two bytes have arrived
        self._member: zlib._Decompress | None = None
        self._members = 0
        self._ended = False  # True: the rest of the bytes is padding behind the last member

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the inflated bytes of `data`, in chunks of limited size."""
        if self._plain is None:
            self._start = data = self._start + data
            if len(data) < len(_GZIP_MAGIC):
                return
            self._plain = not data.startswith(_GZIP_MAGIC)
        for chunk in _chunks(data):
            for inflated in (chunk,) if self._plain else self._inflated(chunk):
                yield inflated[: self._left]
                self._left -= len(inflated)
                if self._left < 0:
                    raise UnusableSitemap(f"it has more than {self._limit} bytes; the rest is left out")

    def close(self) -> bytes:
        """Return a file of less than two bytes; raise if gzip data have not ended."""
        if self._member is not None and not self._member.eof:
            raise UnusableSitemap("its gzip data end early")
        return self._start if self._plain is None else b""

    def _inflated(self, data: bytes) -> Iterator[bytes]:
        """Yield the inflated bytes of one chunk; it must be small, because each step copies the rest."""
        inflated = b""
        # After a full result there may be more output, although all input has been consumed.
        while (data or len(inflated) == _CHUNK) and not self._ended:
            if self._member is None or self._member.eof:
                # There may be several members. Padding behind the last one is common and is ignored.
                if not data.startswith(_GZIP_MAGIC[: len(data)]):
                    self._ended = True
                    return
                self._member = self._next_member()
            before = self._member.copy()
            try:
                inflated = self._member.decompress(data, _CHUNK)
            except zlib.error as error:
                yield from _until_damage(before, data)
                raise UnusableSitemap("its gzip data are damaged; the rest is left out") from error
            yield inflated
            data = self._member.unconsumed_tail or self._member.unused_data

    def _next_member(self) -> zlib._Decompress:
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise UnusableSitemap(f"it has more than {_MAX_MEMBERS} gzip members; the rest is left out")
        return zlib.decompressobj(wbits=31)


def _until_damage(member: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """Yield the inflated bytes before the byte at which inflating fails."""
    with suppress(zlib.error):
        for index in range(len(data)):
            yield member.decompress(data[index : index + 1])


def _chunks(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), _CHUNK):
        yield data[start : start + _CHUNK]


class TextReader:
    """Reads a text file with one URL per line."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the file, in UTF-8."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(line)
        self._check(self._rest)

    def close(self) -> None:
        """End the file."""
        self._take(self._rest)

    def _check(self, line: bytes) -> None:
        if len(line) > _MAX_LINE:
            raise UnusableSitemap(f"it has a line of more than {_MAX_LINE} bytes; the rest is left out")

    def _take(self, line: bytes) -> None:
        self._check(line)
        url = line.strip()
        if url:
            self._found("url", url.decode(errors="replace"), "", "")


class XmlReader:
    """Reads a urlset, a sitemapindex or a feed; other elements, such as images and news, are skipped.

    Namespace prefixes are compared as written, because sitemaps do not always declare them.
    """

    def __init__(self, found: Found) -> None:
        self._found = found
        self._depth = 0
        self._elements = 0
        self._entry_tag = ""
        self._kind = ""
        self._parts: dict[str, str] = {}  # tag → "loc" or "lastmod"
        self._entry: dict[str, str] = {}
        self._text: list[str] | None = None
        self._room = 0
        self._fed = 0
        self._feed: FeedEntries | None = None
        self._parser = expat.ParserCreate("utf-8")  # the bytes are UTF-8 now, whatever the file declares
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the file, in UTF-8."""
        self._parse(data, False)
        self._fed += len(data)
        if self._fed - self._parser.CurrentByteIndex > _MAX_TAG:
            raise UnusableSitemap("it has a tag or comment that does not end; the rest is left out")

    def close(self) -> None:
        """End the file."""
        self._parse(b"", True)

    def _parse(self, data: bytes, final: bool) -> None:
        try:
            self._parser.Parse(data, final)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise UnusableSitemap(f"its XML is broken: {error}; the rest is left out") from error

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._elements > _MAX_ELEMENTS:
            raise UnusableSitemap(f"it has more than {_MAX_ELEMENTS} elements; the rest is left out")
        if self._depth > _MAX_DEPTH:
            raise UnusableSitemap("its elements are nested too deeply; the rest is left out")
        if self._depth == 1 and tag.rpartition(":")[2].lower() in FEED_ROOTS:
            self._feed = FeedEntries(self._found)
        if self._feed is not None:
            self._feed.start(tag, attributes)
        elif self._depth == 1:
            self._name_tags(tag)
        elif self._depth == 2:
            self._entry = {}
        elif self._depth == 3 and tag in self._parts:
            self._text, self._room = [], MAX_URL_BYTES

    def _name_tags(self, root: str) -> None:
        prefix, colon, local = root.rpartition(":")
        if local not in _KIND_OF_ENTRY:
            raise UnusableSitemap(f"it is no sitemap or feed but a document of type {shown(root)}")
        self._kind = _KIND_OF_ENTRY[local]
        self._entry_tag = f"{prefix}{colon}{self._kind}"
        self._parts = {f"{prefix}{colon}{part}": part for part in ("loc", "lastmod")}

    def _end(self, tag: str) -> None:
        if self._feed is not None:
            self._feed.end(tag)
        elif self._depth == 3 and self._text is not None:
            self._entry.setdefault(self._parts[tag], "".join(self._text).strip())
            self._text = None
        elif self._depth == 2 and tag == self._entry_tag and self._entry.get("loc"):
            self._found(self._kind, self._entry["loc"], self._entry.get("lastmod", ""), "")
        self._depth -= 1

    def _characters(self, text: str) -> None:
        # A text that is too long for a URL may be cut, if the rest is still too long.
        if self._feed is not None:
            self._feed.characters(text)
        elif self._text is not None and self._depth == 3 and self._room >= 0:
            self._text.append(text)
            self._room -= len(text)

    def _refuse_doctype(self, root: str, _system: str | None, _public: str | None, has_subset: int) -> None:
        if root.lower() in FEED_ROOTS and not has_subset:
            return  # expat never loads the file that it names
        raise UnusableSitemap("it has a DOCTYPE, which no sitemap needs and which attacks use")


Reader: TypeAlias = "TextReader | XmlReader | JsonFeedReader"


def reader_for(start: bytes, found: Found) -> Reader:
    """Return the reader for a file whose content begins with `start`, in UTF-8."""
    if start.startswith(b"{"):
        return JsonFeedReader(found)
    return XmlReader(found) if start.startswith(b"<") else TextReader(found)
