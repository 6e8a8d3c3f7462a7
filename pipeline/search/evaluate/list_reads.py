"""Reads the bytes of all posting lists of a query at once.

A remote read takes a round trip, so reading them one after the other would be slow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile, damage_in
from crawlctl.pipeline.index.segment.segment_files import POSTINGS
from crawlctl.pipeline.search.plan.steps import ListRead

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.parallel_reads import ParallelReads

    ListBytes = dict[TermInfo, tuple[bytes, bytes]]  # the documents part and the positions part of each list

# Two lists with a gap of fewer bytes between them are read in one request: reading the unused bytes of the
# gap takes less time than a second request.
_JOINED_GAP_BYTES = 16 << 10


class _ByteRange(msgspec.Struct, frozen=True):
    """A range of bytes of the `postings` of a segment, and the lists in it."""

    segment: int
    start: int
    end: int
    reads: list[ListRead]


class ListReader:
    """Reads the posting lists of the segments of an open index, and keeps their files open."""

    def __init__(self, store: Store, segments: Sequence[Segment], parallel: ParallelReads) -> None:
        self._store = store
        self._segments = segments
        self._parallel = parallel
        self._sources: dict[int, RangedSource] = {}

    def read(self, reads: Iterable[ListRead]) -> ListBytes:
        """Return the documents part of each list, and its positions part where that is asked for."""
        with_positions: dict[TermInfo, bool] = {}
        for info, positions in reads:
            with_positions[info] = positions or with_positions.get(info, False)
        found: ListBytes = {}
        stored: list[ListRead] = []
        for read in map(ListRead._make, with_positions.items()):
            if read.info.inlined:
                found[read.info] = _cut(read.info.inlined, 0, read)
            else:
                stored.append(read)
        if stored:
            ranges = _byte_ranges(stored, _JOINED_GAP_BYTES if self._parallel else 0)
            for byte_range, data in zip(ranges, self._parallel.map(self._read, ranges), strict=True):
                for read in byte_range.reads:
                    found[read.info] = _cut(data, read.info.offset - byte_range.start, read)
        return found

    def naming_damage(self, info: TermInfo) -> AbstractContextManager[None]:
        """Turn a ValueError about the bytes of a list into a CorruptFile that names the file and offset."""
        entry = self._segments[info.segment].entries[POSTINGS]
        return damage_in(self._store.locate(entry.name), info.offset)

    def _read(self, byte_range: _ByteRange) -> bytes:
        source = self._source(byte_range.segment)
        length = byte_range.end - byte_range.start
        data = source.read(byte_range.start, length)
        if len(data) != length:
            reason = f"{length} bytes should be there, {len(data)} are"
            raise CorruptFile(source.name, byte_range.start, reason)
        return data

    def _source(self, segment: int) -> RangedSource:
        source = self._sources.get(segment)
        if source is None:
            source = self._sources[segment] = self._segments[segment].held_open(self._store, POSTINGS)
        return source


def _byte_ranges(reads: list[ListRead], gap: int) -> list[_ByteRange]:
    """Return the ranges that hold all lists; lists with at most `gap` bytes between them share a range."""
    ranges: list[_ByteRange] = []
    for read in sorted(reads, key=lambda read: (read.info.segment, read.info.offset)):
        info = read.info
        end = info.offset + info.documents_bytes + (info.positions_bytes if read.positions else 0)
        last = ranges[-1] if ranges else None
        if last is not None and last.segment == info.segment and info.offset <= last.end + gap:
            last.reads.append(read)
            ranges[-1] = _ByteRange(last.segment, last.start, max(end, last.end), last.reads)
        else:
            ranges.append(_ByteRange(info.segment, info.offset, end, [read]))
    return ranges


def _cut(data: bytes, start: int, read: ListRead) -> tuple[bytes, bytes]:
    middle = start + read.info.documents_bytes
    end = middle + read.info.positions_bytes
    return data[start:middle], data[middle:end] if read.positions else b""
