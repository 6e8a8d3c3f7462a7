"""Interleaved lists: copies of the posting lists of several segments, in which a word is one place.

The lists of a segment stand in the order of their terms. Here all terms are cut into slices, the same ones
for all segments, and the file has slice after slice; in a slice the segments follow one another. So the lists
of a word in all segments are near each other, and one request reads them from a remote store.

    the bytes of the lists: for each slice, those of each segment
    table: MessagePack [[segment, starts, places], …]; `starts` are the offsets in the `postings` of the
           segment at which the slices begin, and the end of the last; `places` their offsets here (4 bytes
           each, little-endian)

The counter `table` of the file says where the table begins. The file has pages with checksums. Like the
compound file it has only copies: without it, or if it is damaged, each segment is asked for its own lists.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.paged_file import PagedSource, PageWriter
from crawlctl.pipeline.index.segment.segment_files import IN_PAGES, POSTINGS
from crawlctl.pipeline.state.kinds import INTERLEAVED
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry, file_entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.store.base import Store

_TABLE = "table"


class _Placed(msgspec.Struct, frozen=True, array_like=True):
    """A segment in the table: where its slices begin in its own file, and where in this one."""

    segment: str
    starts: bytes
    places: bytes


_decode = msgspec.msgpack.Decoder(tuple[_Placed, ...]).decode
_encode = msgspec.msgpack.Encoder().encode


def write_interleaved(
    store: Store, segments: Sequence[Segment], starts: Sequence[Sequence[int]], *, round_number: int
) -> FileEntry:
    """Write the lists of segments; `starts` are, by segment, the offsets of all slices and the last end."""
    whole = [segment.open(store, POSTINGS) for segment in segments]
    lists = [source.read(0, source.size) for source in whole]
    places: list[list[int]] = [[] for _ in segments]
    at = 0
    with store.write(data_name(INTERLEAVED, 0, round_number)) as sink, PageWriter(sink) as pages:
        for bounds in zip(*map(pairwise, starts), strict=True):
            for data, (start, end), found in zip(lists, bounds, places, strict=True):
                found.append(at)
                pages.write(memoryview(data)[start:end])
                at += end - start
        placed = zip(segments, starts, places, strict=True)
        pages.write(_encode([_Placed(one.name, _packed(some), _packed(own)) for one, some, own in placed]))
    return file_entry(sink, INTERLEAVED, 0, len(segments), {_TABLE: at} | IN_PAGES)


class InterleavedLists:
    """An open file of interleaved lists; raises CorruptFile if its table is damaged."""

    def __init__(self, store: Store, entry: FileEntry) -> None:
        self.source = PagedSource(store.open(entry.name), entry.counters.get("page_bytes", 0))
        start = entry.counters.get(_TABLE, 0)
        data = self.source.read(start, self.source.size - start)
        try:
            self._placed = {
                one.segment: (_numbers(one.starts), _numbers(one.places)) for one in _decode(data)
            }
        except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as err:
            raise CorruptFile(store.locate(entry.name), start, f"no table of segments ({err})") from err

    @property
    def segments(self) -> frozenset[str]:
        """The names of the segments whose lists are in the file."""
        return frozenset(self._placed)

    def place(self, segment: str, offset: int) -> int | None:
        """Return where the list at an offset of the `postings` of a segment lies, None if it is not here."""
        starts, places = self._placed.get(segment, ((), ()))
        index = bisect_right(starts, offset) - 1
        return places[index] + offset - starts[index] if 0 <= index < len(places) else None


def _packed(numbers: Sequence[int]) -> bytes:
    # Four bytes are enough for the most bytes of lists that are interleaved.
    found = array("I", numbers)
    if sys.byteorder == "big":
        found.byteswap()
    return found.tobytes()


def _numbers(data: bytes) -> Sequence[int]:
    found = array("I", data)
    if sys.byteorder == "big":
        found.byteswap()
    return found
