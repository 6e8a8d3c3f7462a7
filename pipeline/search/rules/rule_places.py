"""Finds the documents that targets of rules stand for: ranges of ordinals in a segment.

The documents of a segment are sorted by host and URL, so all documents of a host are one range, and so are
all documents whose URLs begin with the same text. The URLs are stored with the documents; a binary search
reads a few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.writables import pack_long
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, DOCS_DATA, DOCS_INDEX
from crawlctl.pipeline.index.segment.stored_documents import decode_record
from crawlctl.pipeline.search.rules.rule_targets import target_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.search.rules.rule_targets import Target
    from crawlctl.pipeline.store.base import Store

    Ranges = tuple[tuple[int, int], ...]  # [start, end) of ordinals, rising and without overlaps

_SCHEMES = ("http", "https")


class SegmentPlaces:
    """One segment, in which targets are looked up."""

    def __init__(self, store: Store, segment: Segment) -> None:
        self._store = store
        self._segment = segment
        self._columns = ColumnReader(segment.open(store, COLUMNS), segment.documents)
        self._hosts = self._columns.hosts()
        self._docs: MapFileReader | None = None

    def of(self, text: str) -> Ranges:
        """Return the documents of a target; the ranges may hold deleted documents."""
        target = target_of(text)
        found: list[tuple[int, int]] = []
        for first, after in self._bounds(target):
            for start, end in self._inside(target, first, after):
                joins = found and found[-1][1] == start
                found.append((found.pop()[0] if joins else start, end))
        return tuple(found)

    def _bounds(self, target: Target) -> Iterator[tuple[int, int]]:
        """Yield the ranges of all hosts that a target may mean; a target without a port means all ports."""
        for index, packed in enumerate(self._hosts.names):
            host = packed.decode("ascii", "replace")
            name, colon, port = host.rpartition(":")
            names = (host, name) if colon and port.isdigit() and not target.url else (host,)
            wanted = target.key.host
            if any(one.endswith(f".{wanted}") if target.key.is_domain else one == wanted for one in names):
                yield self._hosts.bounds(index, self._segment.documents)

    def _inside(self, target: Target, first: int, after: int) -> Iterator[tuple[int, int]]:
        """Yield the documents of a host that a target means."""
        key = target.key
        if target.url:
            start = self._search(target.url, first, after)
            if start < after and self._url(start) == target.url:
                yield start, start + 1
        elif not key.path and not key.scheme:
            yield first, after
        elif first < after:
            for scheme in (key.scheme,) if key.scheme else _SCHEMES:
                # All URLs of a host have the same authority, so the first URL shows how it is written.
                authority = self._url(first).partition("://")[2].partition("/")[0]
                begin = f"{scheme}://{authority}{key.path or '/'}"
                start = self._search(begin, first, after)
                end = self._search(begin, start, after, behind=True)
                if start < end:
                    yield start, end

    def _search(self, begin: str, first: int, after: int, *, behind: bool = False) -> int:
        """Return the first document whose URL is not below `begin` or, with `behind`, not among its URLs."""
        packed = begin.encode()
        while first < after:
            middle = (first + after) // 2
            url = self._url(middle).encode()
            if url < packed or (behind and url.startswith(packed)):
                first = middle + 1
            else:
                after = middle
        return first

    def _url(self, ordinal: int) -> str:
        files = self._segment
        if self._docs is None:
            self._docs = MapFileReader(
                files.open(self._store, DOCS_DATA), files.open(self._store, DOCS_INDEX)
            )
        name = self._store.locate(files.entries[DOCS_DATA].name)
        row = self._columns.number("rows", ordinal)
        value = self._docs.get(pack_long(row))
        if value is None:
            raise CorruptFile(name, 0, f"it has no document {row}")
        return decode_record(value, name).url
