"""Packs posting lists for a segment, thousands at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from isal import isal_zlib

from crawlctl.pipeline.arrays.byte_strings import ByteStrings, replaced, strings_of
from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.index.runs.posting_slices import gaps_of
from crawlctl.pipeline.index.segment.postings.number_arrays import NumbersWriter
from crawlctl.pipeline.index.segment.postings.plain_lists import ALIKE, DEFLATED, RAW_DEFLATE_BITS, PackedList
from crawlctl.pipeline.index.segment.postings.short_numbers import put
from crawlctl.pipeline.index.segment.term_info import (
    MAX_INLINED_BYTES,
    MAX_INLINED_COUNT,
    PLACE_COLUMNS,
    SHORT_HEAD_BYTES,
    pack_places,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.index.runs.posting_slices import Lists
    from crawlctl.pipeline.index.segment.postings.short_numbers import Integers, Octets

    Part = bytes | memoryview

# A part of so many bytes is deflated: from 256 on, lists took a twentieth less room and deflating
# nearly twice as long.
DEFLATE_FROM = 1024

PLACE = np.dtype(PLACE_COLUMNS)  # of a list that lies in `postings`

_LEVEL = 1


def encode_segment_lists(lists: Lists, impacts: Octets, masks: Octets) -> list[PackedList]:
    """Return the parts of each list; `impacts` and `masks` have a byte for each document of each list."""
    return _Parts(lists, impacts, masks).packed() if len(lists.counts) else []


def pack_lists(lists: Lists, impacts: Octets, masks: Octets, offset: int) -> tuple[ByteStrings, list[Part]]:
    """Return what `pack_places` makes of these lists, without making an object of each."""
    return _Parts(lists, impacts, masks).places(offset) if len(lists.counts) else (strings_of([]), [])


class _Parts:
    """The parts of many lists: those of short ones with room for a head before each, then all others."""

    def __init__(self, lists: Lists, impacts: Octets, masks: Octets) -> None:
        counts, frequencies = lists.counts, lists.frequencies
        if counts.min() < 1 or frequencies.min() < 1:
            raise ValueError("a posting list without documents or positions; leave its term out")
        starts = starts_of(counts)
        self._counts = counts
        self._largest = np.maximum.reduceat(impacts, starts)
        documents = _Documents(lists, starts, impacts, masks)
        positions = _Positions(lists, starts)
        self._sizes = documents.sizes, positions.sizes
        self._lay_out(documents.sizes + positions.sizes)
        documents.write(self._blob, self._starts)
        positions.write(self._blob, self._starts + documents.sizes)

    def _lay_out(self, sizes: Integers) -> None:
        """Say where the parts of each list begin in the blob."""
        short = (self._counts <= MAX_INLINED_COUNT) & (sizes <= MAX_INLINED_BYTES)
        self._short, self._others = np.flatnonzero(short), np.flatnonzero(~short)
        rooms = sizes[self._short] + SHORT_HEAD_BYTES
        self._values_bytes = int(rooms.sum())
        self._starts = np.empty(len(sizes), np.int64)
        self._starts[self._short] = starts_of(rooms) + SHORT_HEAD_BYTES
        self._starts[self._others] = starts_of(sizes[self._others]) + self._values_bytes
        self._blob = np.empty(int(sizes.sum()) + SHORT_HEAD_BYTES * len(rooms), np.uint8)

    def packed(self) -> list[PackedList]:
        """Return all lists."""
        return [self._list(place) for place in range(len(self._counts))]

    def places(self, offset: int) -> tuple[ByteStrings, list[Part]]:
        """Return the values of terms with these lists, and the parts that go to `postings`."""
        first, second = self._sizes
        for place, column in enumerate((self._counts, self._largest, first, second)):
            at = self._starts[self._short] + (place - SHORT_HEAD_BYTES)
            self._blob[at] = column[self._short].astype(np.uint8)
        starts, lengths = self._starts - SHORT_HEAD_BYTES, first + second + SHORT_HEAD_BYTES
        starts[self._others] = self._values_bytes + PLACE.itemsize * np.arange(len(self._others))
        lengths[self._others] = PLACE.itemsize
        parts, shrunk = self._deflate()
        octets = np.concatenate((self._blob[: self._values_bytes], self._places(offset).view(np.uint8)))
        return replaced(ByteStrings(octets, starts, lengths), shrunk), parts

    def _places(self, offset: int) -> NDArray[np.void]:
        """Return the places of the lists that are not short, from an offset on."""
        others = self._others
        first, second = self._sizes[0][others], self._sizes[1][others]
        places = np.zeros(len(others), PLACE)
        places["impact"], places["count"] = self._largest[others], self._counts[others]
        places["offset"] = offset + starts_of(first + second)
        places["documents"], places["positions"] = first, second
        return places

    def _deflate(self) -> tuple[list[Part], dict[int, bytes]]:
        """Return what goes to `postings`, large parts deflated, and the values of what is short by then.

        From then on the sizes are those that parts have there: nothing for what is short.
        """
        octets = self._blob.data
        pieces: list[Part] = []
        shrunk: dict[int, bytes] = {}
        sizes: list[tuple[int, int]] = []
        large = np.flatnonzero((self._sizes[0] >= DEFLATE_FROM) | (self._sizes[1] >= DEFLATE_FROM))
        columns = large, self._starts[large], self._sizes[0][large], self._sizes[1][large]
        at = self._values_bytes
        for place, start, first, second in zip(*(column.tolist() for column in columns), strict=True):
            pieces.append(octets[at:start])
            at = start + first + second
            parts = _stored(octets[start : start + first]), _stored(octets[start + first : at])
            if sum(map(len, parts)) <= MAX_INLINED_BYTES:
                (value,), kept = pack_places([self._packed(place, *parts)], 0)
                if not kept:
                    shrunk[place], parts = value, (b"", b"")
            pieces += parts
            sizes.append((len(parts[0]), len(parts[1])))
        pieces.append(octets[at:])
        self._sizes[0][large], self._sizes[1][large] = np.array(sizes, np.int64).reshape(-1, 2).T
        return pieces, shrunk

    def _list(self, place: int) -> PackedList:
        octets, start = self._blob.data, int(self._starts[place])
        middle = start + int(self._sizes[0][place])
        end = middle + int(self._sizes[1][place])
        return self._packed(place, _stored(octets[start:middle]), _stored(octets[middle:end]))

    def _packed(self, place: int, documents: bytes, positions: bytes) -> PackedList:
        return PackedList(int(self._counts[place]), int(self._largest[place]), documents, positions)


class _Documents:
    """The first parts of many lists, to be put in their places."""

    def __init__(self, lists: Lists, starts: Integers, impacts: Octets, masks: Octets) -> None:
        counts = lists.counts
        self._gaps = NumbersWriter(gaps_of(lists.documents, starts), counts, starts)
        self._alike = ~np.logical_or.reduceat(_differ(masks, starts), starts)
        self._mask_counts = np.where(self._alike, 1, counts)
        self._starts, self._counts, self._impacts, self._masks = starts, counts, impacts, masks
        self.sizes: Integers = 1 + self._gaps.sizes + counts + self._mask_counts

    def write(self, blob: Octets, base: Integers) -> None:
        blob[base] = np.where(self._alike, ALIKE, 0)
        self._gaps.write(blob, base + 1)
        impacts_at = base + 1 + self._gaps.sizes
        put(blob, impacts_at, self._impacts, self._starts, self._counts)
        put(blob, impacts_at + self._counts, self._masks, self._starts, self._mask_counts)


class _Positions:
    """The second parts of many lists, to be put in their places."""

    def __init__(self, lists: Lists, starts: Integers) -> None:
        firsts = starts_of(lists.frequencies)
        list_starts = firsts[starts]
        occurrences = np.diff(list_starts, append=len(lists.positions))
        self._once = occurrences == lists.counts
        self._held = NumbersWriter(lists.frequencies, np.where(self._once, 0, lists.counts), starts)
        self._gaps = NumbersWriter(gaps_of(lists.positions, firsts), occurrences, list_starts)
        self.sizes: Integers = 1 + self._held.sizes + self._gaps.sizes

    def write(self, blob: Octets, base: Integers) -> None:
        blob[base] = np.where(self._once, ALIKE, 0)
        self._held.write(blob, base + 1)
        self._gaps.write(blob, base + 1 + self._held.sizes)


def _differ(masks: Octets, starts: Integers) -> NDArray[np.bool_]:
    """Tell of each mask whether it is another than the one before it in its list."""
    different = np.empty(len(masks), np.bool_)
    np.not_equal(masks[1:], masks[:-1], out=different[1:])
    different[starts] = False
    return different


def _stored(octets: memoryview) -> bytes:
    """Return a part, its body deflated if it is large and that takes less room."""
    if len(octets) >= DEFLATE_FROM:
        body = isal_zlib.compress(octets[1:], _LEVEL, RAW_DEFLATE_BITS)
        if len(body) < len(octets) - 1:
            return bytes((octets[0] | DEFLATED,)) + body
    return bytes(octets)
