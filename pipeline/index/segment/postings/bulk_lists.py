"""Reads the lists of many terms of a segment at once, from the values of the terms on.

A merge takes in segments of a hundred thousand terms, most of them rare: an object for each would cost more
than the numbers in its list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import ByteStrings, replaced
from crawlctl.pipeline.arrays.ragged import places_of, starts_of
from crawlctl.pipeline.index.runs.posting_slices import Lists, Rated, risen
from crawlctl.pipeline.index.segment.postings.array_lists import whole_positions
from crawlctl.pipeline.index.segment.postings.list_writer import PLACE
from crawlctl.pipeline.index.segment.postings.number_arrays import read_arrays
from crawlctl.pipeline.index.segment.postings.plain_lists import ALIKE, DEFLATED, documents_body
from crawlctl.pipeline.index.segment.postings.short_numbers import MAX_NUMBER
from crawlctl.pipeline.index.segment.term_info import MAX_INLINED_COUNT, SHORT_HEAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crawlctl.pipeline.formats.window import Window
    from crawlctl.pipeline.index.segment.postings.short_numbers import Integers, Octets

_MAX_OFFSET = 1 << 62


class Places(NamedTuple):
    """Where the lists of terms lie: behind the heads of their values, or in `postings`."""

    values: ByteStrings
    counts: Integers
    offsets: Integers  # in `postings`, or -1
    documents_bytes: Integers
    positions_bytes: Integers

    def part(self, start: int, stop: int) -> Places:
        """Return the places from one on and below another."""
        return Places(self.values.part(start, stop), *(column[start:stop] for column in self[1:]))


class _Ratings(NamedTuple):
    """Where the impacts of lists lie, behind which come as many masks, or one for all."""

    octets: Octets
    starts: Integers
    alike: NDArray[np.bool_]

    def read(self, counts: Integers) -> tuple[Octets, Octets]:
        """Return the impact and the mask of each document."""
        held = np.where(self.alike, 1, counts)
        masks = self.octets[places_of(self.starts + counts, held)]
        return self.octets[places_of(self.starts, counts)], np.repeat(masks, np.repeat(counts // held, held))


def read_places(values: ByteStrings) -> Places:
    """Return what `decode_place` finds in each of the values; damage is a ValueError."""
    _demand_room(values, SHORT_HEAD_BYTES)
    counts, _, documents, positions = (
        values.octets[values.starts + place].astype(np.int64) for place in range(SHORT_HEAD_BYTES)
    )
    inlined = counts > 0
    if (counts > MAX_INLINED_COUNT).any():
        raise ValueError("a list with its term has too many documents")
    _demand_room(values, np.where(inlined, SHORT_HEAD_BYTES + documents + positions, PLACE.itemsize))
    offsets = np.full(len(values), -1)
    others = np.flatnonzero(~inlined)
    octets, _ = ByteStrings(
        values.octets, values.starts[others], np.full(len(others), PLACE.itemsize)
    ).laid_out()
    places = octets.view(PLACE)
    if (places["offset"] > _MAX_OFFSET).any():
        raise ValueError("a list lies beyond all files")
    counts[others], offsets[others] = places["count"], places["offset"]
    documents[others], positions[others] = places["documents"], places["positions"]
    return Places(values, counts, offsets, documents, positions)


def read_lists(places: Places, postings: Window, documents: int) -> Lists:
    """Return the lists of a segment of so many documents that lie there; damage is a ValueError."""
    return _read(places, postings, documents)[0]


def read_rated(places: Places, postings: Window, documents: int) -> Rated:
    """Return the same with impacts and masks, which most who read lists do not need."""
    lists, ratings = _read(places, postings, documents)
    return Rated(lists, *ratings.read(lists.counts))


def _read(places: Places, postings: Window, documents: int) -> tuple[Lists, _Ratings]:
    first, second = _parts(places, postings)
    counts = places.counts
    if not (first.lengths.all() and second.lengths.all() and counts.all() and counts.max() <= MAX_NUMBER):
        raise ValueError("a posting list without documents, or without bytes for them")
    ordinals, ratings = _documents(first, counts)
    if ordinals[np.cumsum(counts) - 1].max() >= documents:
        raise ValueError(f"a posting list names more than {documents} documents")
    return Lists(counts, ordinals, *_positions(second, counts)), ratings


def _parts(places: Places, postings: Window) -> tuple[ByteStrings, ByteStrings]:
    """Return the two parts of each list, as they are stored."""
    values, others = places.values.trimmed(), np.flatnonzero(places.offsets >= 0)
    sizes = (places.documents_bytes + places.positions_bytes)[others]
    octets = np.concatenate((values.octets, _stored(postings, places.offsets[others], sizes)))
    starts = values.starts + SHORT_HEAD_BYTES
    starts[others] = len(values.octets) + starts_of(sizes)
    return (
        ByteStrings(octets, starts, places.documents_bytes),
        ByteStrings(octets, starts + places.documents_bytes, places.positions_bytes),
    )


def _stored(postings: Window, offsets: Integers, sizes: Integers) -> Octets:
    """Return what lies at these offsets, which is mostly one stretch."""
    ends = offsets + sizes
    if len(offsets) and (offsets[1:] == ends[:-1]).all():
        offsets, sizes = offsets[:1], ends[-1:] - offsets[:1]
    rows = zip(offsets.tolist(), sizes.tolist(), strict=True)
    return np.frombuffer(b"".join([postings.take(offset, size) for offset, size in rows]), np.uint8)


def _documents(parts: ByteStrings, counts: Integers) -> tuple[Integers, _Ratings]:
    bodies, alike = _bodies(parts, counts, documents_body)
    ends = bodies.starts + bodies.lengths
    gaps, impacts_at = read_arrays(bodies.octets, bodies.starts, counts, ends)
    _demand(gaps > 0)
    _demand(impacts_at + counts + np.where(alike, 1, counts) == ends)
    return risen(gaps, counts), _Ratings(bodies.octets, impacts_at, alike)


def _positions(parts: ByteStrings, counts: Integers) -> tuple[Integers, Integers]:
    bodies, alike = _bodies(parts, counts, whole_positions)
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
    parts: ByteStrings, counts: Integers, inflated: Callable[[bytes, int], bytes]
) -> tuple[ByteStrings, NDArray[np.bool_]]:
    """Return the bodies of parts, and which of them are marked as alike."""
    heads = parts.octets[parts.starts]
    bodies = ByteStrings(parts.octets, parts.starts + 1, parts.lengths - 1)
    deflated = np.flatnonzero(heads & DEFLATED).tolist()
    others = {place: inflated(parts[place], int(counts[place])) for place in deflated}
    return replaced(bodies, others), (heads & ALIKE).astype(np.bool_)


def _demand_room(values: ByteStrings, room: Integers | int) -> None:
    if (values.lengths < room).any():
        raise ValueError("the place of a list is cut off, or a list with its term")


def _demand(sound: NDArray[np.bool_]) -> None:
    if not sound.all():
        raise ValueError("a posting list does not rise, or has bytes that do not fit its numbers")
