"""Packs the posting lists of a segment, thousands at a time; plain_lists.py describes their bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from isal import isal_zlib

from crawlctl.pipeline.arrays.byte_strings import ByteStrings, replaced, strings_of
from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.index.segment.postings.number_arrays import NumbersWriter, put
from crawlctl.pipeline.index.segment.postings.plain_lists import ALIKE, DEFLATED, RAW_DEFLATE_BITS, PackedList
from crawlctl.pipeline.index.segment.postings.posting_arrays import gaps_of
from crawlctl.pipeline.index.segment.term_info import (
    LONG_COLUMNS,
    MAX_INLINED_BYTES,
    MAX_INLINED_COUNT,
    SHORT_HEAD_BYTES,
    pack_term_infos,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.array_types import BoolArray, Int64Array, Octets
    from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists

    Section = bytes | memoryview

# Sections of at least this many bytes are deflated. With 256 bytes, lists took a twentieth less room, and
# deflating took nearly twice as long.
DEFLATE_FROM = 1024
# Lists of words as they are written have few different impacts, masks and positions: they deflate to a third.
DEFLATE_FORMS_FROM = 96

LONG_INFO = np.dtype(LONG_COLUMNS)  # the term info of a list that lies in `postings`

_LEVEL = 1


def pack_lists(
    lists: Lists, offset: int, forms: BoolArray | None = None
) -> tuple[ByteStrings, list[Section]]:
    """Return the term info of each list, and the bytes to write to `postings` from `offset` on.

    `lists.ratings` (impacts and field masks) must be set. The bytes equal the bytes of `pack_term_infos`,
    but no object per list is made. `forms` says which lists are of words as they are written.
    """
    return _Sections(lists, forms).term_infos(offset) if len(lists.counts) else (strings_of([]), [])


class _Sections:
    """The sections of many lists in one blob: first all short lists, then all long lists.

    A short list is stored in its term info; before it there is room for the head of that term info.
    """

    def __init__(self, lists: Lists, forms: BoolArray | None) -> None:
        counts, frequencies = lists.counts, lists.frequencies
        self._deflate_from = np.full(len(counts), DEFLATE_FROM)
        if forms is not None:
            self._deflate_from[forms] = DEFLATE_FORMS_FROM
        impacts, masks = lists.ratings
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

    def _lay_out(self, sizes: Int64Array) -> None:
        """Decide at which offset of the blob the sections of each list begin."""
        short = (self._counts <= MAX_INLINED_COUNT) & (sizes <= MAX_INLINED_BYTES)
        self._short, self._others = np.flatnonzero(short), np.flatnonzero(~short)
        rooms = sizes[self._short] + SHORT_HEAD_BYTES
        self._values_bytes = int(rooms.sum())
        self._starts = np.empty(len(sizes), np.int64)
        self._starts[self._short] = starts_of(rooms) + SHORT_HEAD_BYTES
        self._starts[self._others] = starts_of(sizes[self._others]) + self._values_bytes
        self._blob = np.empty(int(sizes.sum()) + SHORT_HEAD_BYTES * len(rooms), np.uint8)

    def term_infos(self, offset: int) -> tuple[ByteStrings, list[Section]]:
        """Return the term info of each list, and the bytes for `postings`."""
        first, second = self._sizes
        for number, column in enumerate((self._counts, self._largest, first, second)):
            at = self._starts[self._short] + (number - SHORT_HEAD_BYTES)
            self._blob[at] = column[self._short].astype(np.uint8)
        starts, lengths = self._starts - SHORT_HEAD_BYTES, first + second + SHORT_HEAD_BYTES
        starts[self._others] = self._values_bytes + LONG_INFO.itemsize * np.arange(len(self._others))
        lengths[self._others] = LONG_INFO.itemsize
        sections, shrunk = self._deflate()
        octets = np.concatenate((self._blob[: self._values_bytes], self._long_infos(offset).view(np.uint8)))
        return replaced(ByteStrings(octets, starts, lengths), shrunk), sections

    def _long_infos(self, offset: int) -> NDArray[np.void]:
        """Return the term infos of the lists that lie in `postings`, from `offset` on."""
        others = self._others
        first, second = self._sizes[0][others], self._sizes[1][others]
        infos = np.zeros(len(others), LONG_INFO)
        infos["impact"], infos["count"] = self._largest[others], self._counts[others]
        infos["offset"] = offset + starts_of(first + second)
        infos["documents"], infos["positions"] = first, second
        return infos

    def _deflate(self) -> tuple[list[Section], dict[int, bytes]]:
        """Deflate large sections; return the bytes for `postings`, and new term infos by the index of a list.

        The new term infos belong to lists that became small enough to be stored inline. This method updates
        `_sizes`; an inlined list has size 0.
        """
        octets = self._blob.data
        chunks: list[Section] = []
        shrunk: dict[int, bytes] = {}
        sizes: list[tuple[int, int]] = []
        large = np.flatnonzero(np.maximum(*self._sizes) >= self._deflate_from)
        held = self._starts, *self._sizes, self._deflate_from
        columns = large, *(column[large] for column in held)
        at = self._values_bytes
        for index, start, first, second, least in zip(*(column.tolist() for column in columns), strict=True):
            chunks.append(octets[at:start])
            at = start + first + second
            sections = (
                _stored(octets[start : start + first], least),
                _stored(octets[start + first : at], least),
            )
            if sum(map(len, sections)) <= MAX_INLINED_BYTES:
                (info,), kept = pack_term_infos([self._packed(index, *sections)], 0)
                if not kept:
                    shrunk[index], sections = info, (b"", b"")
            chunks += sections
            sizes.append((len(sections[0]), len(sections[1])))
        chunks.append(octets[at:])
        self._sizes[0][large], self._sizes[1][large] = np.array(sizes, np.int64).reshape(-1, 2).T
        return chunks, shrunk

    def _packed(self, index: int, documents: bytes, positions: bytes) -> PackedList:
        return PackedList(int(self._counts[index]), int(self._largest[index]), documents, positions)


class _Documents:
    """The documents sections of many lists, kept until their offsets in the blob are known."""

    def __init__(self, lists: Lists, starts: Int64Array, impacts: Octets, masks: Octets) -> None:
        counts = lists.counts
        self._gaps = NumbersWriter(gaps_of(lists.documents, starts), counts, starts)
        self._alike = ~np.logical_or.reduceat(_differ(masks, starts), starts)
        self._mask_counts = np.where(self._alike, 1, counts)
        self._starts, self._counts, self._impacts, self._masks = starts, counts, impacts, masks
        self.sizes: Int64Array = 1 + self._gaps.sizes + counts + self._mask_counts

    def write(self, blob: Octets, base: Int64Array) -> None:
        blob[base] = np.where(self._alike, ALIKE, 0)
        self._gaps.write(blob, base + 1)
        impacts_at = base + 1 + self._gaps.sizes
        put(blob, impacts_at, self._impacts, self._starts, self._counts)
        put(blob, impacts_at + self._counts, self._masks, self._starts, self._mask_counts)


class _Positions:
    """The positions sections of many lists, kept until their offsets in the blob are known."""

    def __init__(self, lists: Lists, starts: Int64Array) -> None:
        firsts = starts_of(lists.frequencies)
        list_starts = firsts[starts]
        occurrences = np.diff(list_starts, append=len(lists.positions))
        self._once = occurrences == lists.counts
        self._held = NumbersWriter(lists.frequencies, np.where(self._once, 0, lists.counts), starts)
        self._gaps = NumbersWriter(gaps_of(lists.positions, firsts), occurrences, list_starts)
        self.sizes: Int64Array = 1 + self._held.sizes + self._gaps.sizes

    def write(self, blob: Octets, base: Int64Array) -> None:
        blob[base] = np.where(self._once, ALIKE, 0)
        self._held.write(blob, base + 1)
        self._gaps.write(blob, base + 1 + self._held.sizes)


def _differ(masks: Octets, starts: Int64Array) -> BoolArray:
    """Return for each mask whether it differs from the mask before it in its list."""
    different = np.empty(len(masks), np.bool_)
    np.not_equal(masks[1:], masks[:-1], out=different[1:])
    different[starts] = False
    return different


def _stored(octets: memoryview, least: int) -> bytes:
    """Return a section, with its body deflated if it has `least` bytes and gets smaller by it."""
    if len(octets) >= least:
        body = isal_zlib.compress(octets[1:], _LEVEL, RAW_DEFLATE_BITS)
        if len(body) < len(octets) - 1:
            return bytes((octets[0] | DEFLATED,)) + body
    return bytes(octets)
