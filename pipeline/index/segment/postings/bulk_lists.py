"""Reads the posting lists of many terms of a segment at once, by their term infos.

A merge reads segments of a hundred thousand terms, most of them rare: one object per term would cost more
than the numbers in its list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import ByteStrings, replaced
from crawlctl.pipeline.arrays.ragged import indices_of, starts_of
from crawlctl.pipeline.index.segment.postings.array_lists import whole_positions
from crawlctl.pipeline.index.segment.postings.list_writer import LONG_INFO
from crawlctl.pipeline.index.segment.postings.number_arrays import read_arrays
from crawlctl.pipeline.index.segment.postings.plain_lists import ALIKE, DEFLATED, documents_body
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists, risen
from crawlctl.pipeline.index.segment.postings.short_numbers import MAX_NUMBER
from crawlctl.pipeline.index.segment.term_info import MAX_INLINED_COUNT, SHORT_HEAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.arrays.array_types import BoolArray, Int64Array, Octets
    from crawlctl.pipeline.formats.window import Window

_MAX_OFFSET = 1 << 62


class TermInfos(NamedTuple):
    """The term infos of many terms: their lists lie behind the heads of their values, or in `postings`."""

    values: ByteStrings
    counts: Int64Array
    offsets: Int64Array  # the offsets in `postings`, -1 for an inlined list
    documents_bytes: Int64Array
    positions_bytes: Int64Array

    def between(self, start: int, stop: int) -> TermInfos:
        """Return the term infos with an index from `start` on and below `stop`."""
        return TermInfos(self.values.between(start, stop), *(column[start:stop] for column in self[1:]))


class _Ratings(NamedTuple):
    """Where the impacts of lists lie; behind them come as many masks, or one mask for the whole list."""

    octets: Octets
    starts: Int64Array
    alike: BoolArray

    def read(self, counts: Int64Array) -> tuple[Octets, Octets]:
        """Return the impact and the mask of each posting."""
        held = np.where(self.alike, 1, counts)
        masks = self.octets[indices_of(self.starts + counts, held)]
        return self.octets[indices_of(self.starts, counts)], np.repeat(masks, np.repeat(counts // held, held))


def read_term_infos(values: ByteStrings) -> TermInfos:
    """Return what `decode_term_info` finds in each of the values; raise ValueError on damage."""
    _demand_room(values, SHORT_HEAD_BYTES)
    counts, _, documents, positions = (
        values.octets[values.starts + number].astype(np.int64) for number in range(SHORT_HEAD_BYTES)
    )
    inlined = counts > 0
    if (counts > MAX_INLINED_COUNT).any():
        raise ValueError("a list with its term has too many documents")
    _demand_room(values, np.where(inlined, SHORT_HEAD_BYTES + documents + positions, LONG_INFO.itemsize))
    offsets = np.full(len(values), -1)
    others = np.flatnonzero(~inlined)
    octets, _ = ByteStrings(
        values.octets, values.starts[others], np.full(len(others), LONG_INFO.itemsize)
    ).laid_out()
    infos = octets.view(LONG_INFO)
    if (infos["offset"] > _MAX_OFFSET).any():
        raise ValueError("a list lies beyond all files")
    counts[others], offsets[others] = infos["count"], infos["offset"]
    documents[others], positions[others] = infos["documents"], infos["positions"]
    return TermInfos(values, counts, offsets, documents, positions)


def read_lists(infos: TermInfos, postings: Window, documents: int) -> Lists:
    """Return the lists of these terms, without ratings; raise ValueError on damage.

    `documents` is the number of documents of the segment.
    """
    return _read(infos, postings, documents)[0]


def read_rated_lists(infos: TermInfos, postings: Window, documents: int) -> Lists:
    """Return the same lists with their impacts and masks; a copy needs these, a merge does not."""
    lists, ratings = _read(infos, postings, documents)
    return lists._replace(ratings=ratings.read(lists.counts))


def _read(infos: TermInfos, postings: Window, documents: int) -> tuple[Lists, _Ratings]:
    first, second = _sections(infos, postings)
    counts = infos.counts
    if not (first.lengths.all() and second.lengths.all() and counts.all() and counts.max() <= MAX_NUMBER):
        raise ValueError("a posting list without documents, or without bytes for them")
    ordinals, ratings = _documents(first, counts)
    if ordinals[np.cumsum(counts) - 1].max() >= documents:
        raise ValueError(f"a posting list names more than {documents} documents")
    return Lists(counts, ordinals, *_positions(second, counts)), ratings


def _sections(infos: TermInfos, postings: Window) -> tuple[ByteStrings, ByteStrings]:
    """Return the two sections of each list, as they are stored."""
    values, others = infos.values.trimmed(), np.flatnonzero(infos.offsets >= 0)
    sizes = (infos.documents_bytes + infos.positions_bytes)[others]
    octets = np.concatenate((values.octets, _stored(postings, infos.offsets[others], sizes)))
    starts = values.starts + SHORT_HEAD_BYTES
    starts[others] = len(values.octets) + starts_of(sizes)
    return (
        ByteStrings(octets, starts, infos.documents_bytes),
        ByteStrings(octets, starts + infos.documents_bytes, infos.positions_bytes),
    )


def _stored(postings: Window, offsets: Int64Array, sizes: Int64Array) -> Octets:
    """Return the bytes at these offsets, which are mostly one range."""
    ends = offsets + sizes
    if len(offsets) and (offsets[1:] == ends[:-1]).all():
        offsets, sizes = offsets[:1], ends[-1:] - offsets[:1]
    rows = zip(offsets.tolist(), sizes.tolist(), strict=True)
    return np.frombuffer(b"".join([postings.take(offset, size) for offset, size in rows]), np.uint8)


def _documents(sections: ByteStrings, counts: Int64Array) -> tuple[Int64Array, _Ratings]:
    bodies, alike = _bodies(sections, counts, documents_body)
    ends = bodies.starts + bodies.lengths
    gaps, impacts_at = read_arrays(bodies.octets, bodies.starts, counts, ends)
    _demand(gaps > 0)
    _demand(impacts_at + counts + np.where(alike, 1, counts) == ends)
    return risen(gaps, counts), _Ratings(bodies.octets, impacts_at, alike)


def _positions(sections: ByteStrings, counts: Int64Array) -> tuple[Int64Array, Int64Array]:
    bodies, alike = _bodies(sections, counts, whole_positions)
    starts, ends = bodies.starts.copy(), bodies.starts + bodies.lengths
    several = np.flatnonzero(~alike)
    frequencies = np.ones(int(counts.sum()), np.int64)
    found, starts[several] = read_arrays(bodies.octets, starts[several], counts[several], ends[several])
    frequencies[np.repeat(~alike, counts)] = found
    _demand(frequencies > 0)
    occurrences = np.add.reduceat(frequencies, starts_of(counts))
    gaps, reached = read_arrays(bodies.octets, starts, occurrences, ends)
    _demand(gaps > 0)
    _demand(reached == ends)
    return frequencies, risen(gaps, frequencies)


def _bodies(
    sections: ByteStrings, counts: Int64Array, inflated: Callable[[bytes, int], bytes]
) -> tuple[ByteStrings, BoolArray]:
    """Return the bodies of the sections, inflated, and which of them are marked ALIKE."""
    heads = sections.octets[sections.starts]
    bodies = ByteStrings(sections.octets, sections.starts + 1, sections.lengths - 1)
    deflated = np.flatnonzero(heads & DEFLATED).tolist()
    others = {index: inflated(sections[index], int(counts[index])) for index in deflated}
    return replaced(bodies, others), (heads & ALIKE).astype(np.bool_)


def _demand_room(values: ByteStrings, room: Int64Array | int) -> None:
    if (values.lengths < room).any():
        raise ValueError("a term info is cut off, or a list with its term")


def _demand(sound: BoolArray) -> None:
    if not sound.all():
        raise ValueError("a posting list does not rise, or has bytes that do not fit its numbers")
