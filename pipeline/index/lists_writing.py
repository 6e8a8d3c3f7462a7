"""Packs posting lists for a segment, thousands at a time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from isal import isal_zlib

from crawlctl.pipeline.formats.stretches import places_of, starts_of
from crawlctl.pipeline.index.lists import ALIKE, DEFLATED, RAW_DEFLATE_BITS, PackedList
from crawlctl.pipeline.index.postings import gaps_of
from crawlctl.pipeline.index.segment_terms import (
    MAX_INLINED_BYTES,
    MAX_INLINED_COUNT,
    SHORT_HEAD_BYTES,
    pack_places,
)
from crawlctl.pipeline.index.short_numbers import NumbersWriter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.index.planes import Integers, Octets
    from crawlctl.pipeline.index.postings import Lists

# A part of so many bytes is deflated: from 256 on, lists took a twentieth less room and deflating
# nearly twice as long.
DEFLATE_FROM = 1024

_LEVEL = 1


def encode_segment_lists(lists: Lists, impacts: Octets, masks: Octets) -> list[PackedList]:
    """Return the parts of each list; `impacts` and `masks` have a byte for each document of each list."""
    return list(_Parts(lists, impacts, masks).packed()) if len(lists.counts) else []


def pack_lists(lists: Lists, impacts: Octets, masks: Octets, offset: int) -> tuple[list[bytes], list[bytes]]:
    """Return what `pack_places` makes of these lists, without making an object of each short one."""
    return _Parts(lists, impacts, masks).places(offset) if len(lists.counts) else ([], [])


class _Parts:
    """The parts of many lists one behind the other, with room for the head of a short list before each."""

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
        sizes = SHORT_HEAD_BYTES + documents.sizes + positions.sizes
        self._bounds = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=self._bounds[1:])
        self._blob = np.empty(int(self._bounds[-1]), np.uint8)
        first = self._bounds[:-1] + SHORT_HEAD_BYTES
        documents.write(self._blob, first)
        positions.write(self._blob, first + documents.sizes)

    def packed(self) -> Iterable[PackedList]:
        """Return all lists."""
        return self._packed(np.arange(len(self._counts)), self._blob.tobytes())

    def places(self, offset: int) -> tuple[list[bytes], list[bytes]]:
        """Return the values of terms with these lists, and the parts that go to `postings`."""
        first, second = self._sizes
        for place, column in enumerate((self._counts, self._largest, first, second)):
            self._blob[self._bounds[:-1] + place] = column.astype(np.uint8)
        data = self._blob.tobytes()
        entries = [data[start:end] for start, end in pairwise(self._bounds.tolist())]
        others = np.flatnonzero((self._counts > MAX_INLINED_COUNT) | (first + second > MAX_INLINED_BYTES))
        placed, parts = pack_places(self._packed(others, data), offset)
        for place, entry in zip(others.tolist(), placed, strict=True):
            entries[place] = entry
        return entries, parts

    def _packed(self, which: Integers, data: bytes) -> Iterable[PackedList]:
        starts = self._bounds[which] + SHORT_HEAD_BYTES
        middles = starts + self._sizes[0][which]
        ends = self._bounds[which + 1]
        return map(
            PackedList,
            self._counts[which].tolist(),
            self._largest[which].tolist(),
            _stretches(data, starts, middles),
            _stretches(data, middles, ends),
        )


class _Documents:
    """The first parts of many lists, to be put in their places."""

    def __init__(self, lists: Lists, starts: Integers, impacts: Octets, masks: Octets) -> None:
        counts = lists.counts
        self._gaps = NumbersWriter(gaps_of(lists.documents, starts), counts, starts)
        self._alike = np.maximum.reduceat(masks, starts) == np.minimum.reduceat(masks, starts)
        self._mask_counts = np.where(self._alike, 1, counts)
        self._starts, self._counts, self._impacts, self._masks = starts, counts, impacts, masks
        self.sizes: Integers = 1 + self._gaps.sizes + counts + self._mask_counts

    def write(self, blob: Octets, base: Integers) -> None:
        blob[base] = np.where(self._alike, ALIKE, 0)
        self._gaps.write(blob, base + 1)
        impacts_at = base + 1 + self._gaps.sizes
        blob[places_of(impacts_at, self._counts)] = self._impacts
        masks = self._masks[places_of(self._starts, self._mask_counts)]
        blob[places_of(impacts_at + self._counts, self._mask_counts)] = masks


class _Positions:
    """The second parts of many lists, to be put in their places."""

    def __init__(self, lists: Lists, starts: Integers) -> None:
        frequencies, counts = lists.frequencies, lists.counts
        self._once = np.maximum.reduceat(frequencies, starts) == 1
        kept_counts = np.where(self._once, 0, counts)
        kept = frequencies[np.repeat(~self._once, counts)]
        self._held = NumbersWriter(kept, kept_counts, starts_of(kept_counts))
        firsts = starts_of(frequencies)
        gaps = gaps_of(lists.positions, firsts)
        list_starts = firsts[starts]
        occurrences = np.diff(list_starts, append=len(lists.positions))
        self._gaps = NumbersWriter(gaps, occurrences, list_starts)
        self.sizes: Integers = 1 + self._held.sizes + self._gaps.sizes

    def write(self, blob: Octets, base: Integers) -> None:
        blob[base] = np.where(self._once, ALIKE, 0)
        self._held.write(blob, base + 1)
        self._gaps.write(blob, base + 1 + self._held.sizes)


def _stretches(data: bytes, starts: Integers, ends: Integers) -> list[bytes]:
    parts = [data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    for place in np.flatnonzero(ends - starts >= DEFLATE_FROM).tolist():
        parts[place] = _deflated(parts[place])
    return parts


def _deflated(part: bytes) -> bytes:
    """Return the part with its body deflated, if that takes less room."""
    body = isal_zlib.compress(memoryview(part)[1:], _LEVEL, RAW_DEFLATE_BITS)
    return bytes((part[0] | DEFLATED,)) + body if len(body) < len(part) - 1 else part
