"""Reads the bytes of all posting lists of a query at once.

A remote read takes a round trip, so reading them one after the other would be slow. In a remote store the
lists of a word in several segments may lie side by side (index/segment/interleaved_lists.py).
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile, MissingFile, damage_in
from crawlctl.pipeline.index.segment.segment_files import POSTINGS
from crawlctl.pipeline.search.plan.steps import ListRead

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.index.segment.interleaved_lists import InterleavedLists
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.parallel_reads import ParallelReads

    ListBytes = dict[TermInfo, tuple[bytes, bytes]]  # the documents part and the positions part of each list

# Two lists with a gap of fewer bytes between them are read in one request: reading the unused bytes of the
# gap takes less time than a second request.
_JOINED_GAP_BYTES = 16 << 10
INTERLEAVED_GAP_BYTES = 64 << 10  # the same in interleaved lists, where a word is one place
_INTERLEAVED = -1  # stands for these in the place of the number of a segment


class _Place(msgspec.Struct, frozen=True):
    """Where a list is read: a segment, or the interleaved lists, and the offset there."""

    segment: int
    offset: int
    read: ListRead

    @property
    def end(self) -> int:
        """The offset behind the bytes that are needed."""
        info = self.read.info
        return self.offset + info.documents_bytes + (info.positions_bytes if self.read.positions else 0)


class _ByteRange(msgspec.Struct, frozen=True):
    """A range of bytes of the `postings` of a segment, or of interleaved lists, and the lists in it."""

    segment: int
    start: int
    end: int
    places: list[_Place]


class ListReader:
    """Reads the posting lists of the segments of an open index, and keeps their files open."""

    def __init__(
        self,
        store: Store,
        segments: Sequence[Segment],
        parallel: ParallelReads,
        interleaved: FileEntry | None = None,
    ) -> None:
        self._store = store
        self._segments = segments
        self._parallel = parallel
        self._entry = interleaved if parallel else None
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
        left = self._read_into(found, [self._place(read) for read in stored])
        self._read_into(found, [_own_place(read) for read in left])
        return found

    def _read_into(self, found: ListBytes, places: list[_Place]) -> list[ListRead]:
        """Add lists to `found`; return those that could not be read because interleaved lists are damaged."""
        ranges = _byte_ranges(places, is_remote=bool(self._parallel)) if places else []
        left: list[ListRead] = []
        for byte_range, data in zip(ranges, self._parallel.map(self._read, ranges), strict=True):
            for place in byte_range.places:
                if data is None:
                    left.append(place.read)
                else:
                    found[place.read.info] = _cut(data, place.offset - byte_range.start, place.read)
        return left

    def _place(self, read: ListRead) -> _Place:
        """Return where a list is read: among interleaved lists if it is there."""
        if self._interleaved is not None:
            segment = self._segments[read.info.segment]
            place = self._interleaved.place(segment.name, read.info.offset)
            if place is not None:
                return _Place(_INTERLEAVED, place, read)
        return _own_place(read)

    @cached_property
    def _interleaved(self) -> InterleavedLists | None:
        """The interleaved lists; None if there are none, or their table is damaged."""
        if self._entry is not None:
            from crawlctl.pipeline.index.segment.interleaved_lists import InterleavedLists

            with suppress(CorruptFile, MissingFile):
                return InterleavedLists(self._store, self._entry)
        return None

    def naming_damage(self, info: TermInfo) -> AbstractContextManager[None]:
        """Turn a ValueError about the bytes of a list into a CorruptFile that names the file and offset."""
        entry = self._segments[info.segment].entries[POSTINGS]
        return damage_in(self._store.locate(entry.name), info.offset)

    def _read(self, byte_range: _ByteRange) -> bytes | None:
        """Return a range of bytes; None if it has interleaved lists, which are damaged or gone."""
        length = byte_range.end - byte_range.start
        if byte_range.segment == _INTERLEAVED:
            with suppress(CorruptFile, MissingFile):
                data = self._interleaved.source.read(byte_range.start, length) if self._interleaved else b""
                return data if len(data) == length else None
            return None
        source = self._source(byte_range.segment)
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


def _own_place(read: ListRead) -> _Place:
    return _Place(read.info.segment, read.info.offset, read)


def _byte_ranges(places: list[_Place], *, is_remote: bool) -> list[_ByteRange]:
    """Return the ranges that hold all lists; lists with few bytes between them share a range."""
    ranges: list[_ByteRange] = []
    for place in sorted(places, key=lambda place: (place.segment, place.offset)):
        gap = INTERLEAVED_GAP_BYTES if place.segment == _INTERLEAVED else _JOINED_GAP_BYTES
        last = ranges[-1] if ranges else None
        is_near = last is not None and place.offset <= last.end + (gap if is_remote else 0)
        if last is not None and last.segment == place.segment and is_near:
            last.places.append(place)
            ranges[-1] = _ByteRange(last.segment, last.start, max(place.end, last.end), last.places)
        else:
            ranges.append(_ByteRange(place.segment, place.offset, place.end, [place]))
    return ranges


def _cut(data: bytes, start: int, read: ListRead) -> tuple[bytes, bytes]:
    middle = start + read.info.documents_bytes
    end = middle + read.info.positions_bytes
    return data[start:middle], data[middle:end] if read.positions else b""
