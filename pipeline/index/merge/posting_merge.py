"""Merges the posting lists of several sources into one segment, a slice of terms at a time.

A slice has as many positions as the memory allows, but at least one term. A posting becomes one 64-bit key:
in its highest bits the term, then the document, then the index of the posting in the slice. The keys are
sorted, and then the positions are brought into the same order. A document comes from one source and its
anchors from another source, so few postings of a term have the same document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.arrays.ragged import indices_of, starts_of
from crawlctl.pipeline.arrays.sorted_merge import merge_sorted, number_strings
from crawlctl.pipeline.index.building.inversion import lists_of_postings
from crawlctl.pipeline.index.fields import ANCHOR, OFFSET_BITS, POSITION_BITS
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
from crawlctl.pipeline.index.segment.segment_files import MAX_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.array_types import BoolArray, Int32Array, Int64Array, Octets, UInt64Array
    from crawlctl.pipeline.arrays.byte_strings import ByteStrings

    Slices = Iterator[tuple[ByteStrings, Lists]]  # terms in byte order, with their lists

DOCUMENT_BITS = MAX_DOCUMENTS.bit_length() - 1
TERM_SHIFT = POSITION_BITS + DOCUMENT_BITS
MAX_TERMS = 1 << (64 - TERM_SHIFT)
_FIRST_ANCHOR = ANCHOR << OFFSET_BITS
# The index of a posting takes the bits of a position. A slice has at most MAX_TERMS postings, plus the
# postings of one more term, which are two per document at most. This number fits into the bits.
_INDEX = np.uint64((1 << POSITION_BITS) - 1)


class PostingSource(NamedTuple):
    """The posting lists of a run, a segment or anchors, and the new ordinals of its documents.

    `ordinals` has the ordinal in the new segment for each ordinal of the source, -1 for a document that is
    not in the new segment. If it is None, the source already has the ordinals of the new segment.
    """

    slices: Slices
    ordinals: Int32Array | None = None
    keep_anchors: bool = True  # a merge leaves old anchors out: the page has new ones


def merge_postings(sources: Sequence[PostingSource], positions: int) -> Slices:
    """Yield the terms that still have documents, in byte order, with their lists and, if kept, their ratings.

    `positions` is the number of positions of a slice. If several sources have postings of one term and
    document, the positions of the earlier source come first; so sources of anchors come last.
    """
    slices = [source.slices for source in sources]
    # Each term has at least one position.
    for taken in merge_sorted(slices, _positions_of, _HeldLists, min(positions, MAX_TERMS)):
        terms, numbers = number_strings(taken)
        found = [
            _moved(sources[one.source], one.columns, number)
            for one, number in zip(taken, numbers, strict=True)
        ]
        del taken
        postings = found.pop() if len(found) == 1 else _chained(found)
        del found
        if len(postings.keys):
            keys, frequencies, all_positions, ratings = _joined(_in_order(postings))
            ranks, lists = lists_of_postings(keys, frequencies, all_positions, DOCUMENT_BITS)
            yield terms.take(ranks), lists._replace(ratings=ratings)


def _positions_of(lists: Lists) -> int:
    return len(lists.positions)


class _HeldLists:
    """Posting lists that can be cut between two terms; their size is their number of positions."""

    def __init__(self, found: Sequence[Lists]) -> None:
        if len(found) > 1:
            counts, documents, frequencies, positions, ratings = zip(*found, strict=True)
            self._lists = Lists(
                np.concatenate(counts),
                np.concatenate(documents),
                np.concatenate(frequencies),
                np.concatenate(positions),
                _chained_ratings(ratings),
            )
        else:
            self._lists = found[0] if found else _NO_LISTS
        self._postings = np.append(0, np.cumsum(self._lists.counts))
        self.ends: Int64Array = np.append(0, np.cumsum(self._lists.frequencies))[self._postings]

    def between(self, start: int, stop: int) -> Lists:
        """Return the lists of the terms with an index from `start` on and below `stop`."""
        postings = slice(self._postings[start], self._postings[stop])
        counts, documents, frequencies, positions, ratings = self._lists
        return Lists(
            counts[start:stop],
            documents[postings],
            frequencies[postings],
            positions[self.ends[start] : self.ends[stop]],
            tuple([rating[postings] for rating in ratings]),
        )


_NOTHING = np.zeros(0, np.int64)
_NO_LISTS = Lists(_NOTHING, _NOTHING, _NOTHING, _NOTHING)


class _Postings(NamedTuple):
    """One key per posting, its number of positions, the positions of all end to end, and its ratings."""

    keys: UInt64Array
    frequencies: NDArray[np.signedinteger]
    positions: NDArray[np.signedinteger]
    ratings: tuple[Octets, ...]


def _moved(source: PostingSource, lists: Lists, numbers: Int64Array) -> _Postings:
    """Return the postings of lists whose terms have these numbers, with the ordinals of the new segment."""
    documents = lists.documents if source.ordinals is None else source.ordinals[lists.documents]
    keys = np.repeat(numbers << TERM_SHIFT, lists.counts)
    keys += documents.astype(np.int64) << POSITION_BITS
    found = _Postings(keys.view(np.uint64), lists.frequencies, lists.positions, lists.ratings)
    if source.ordinals is None:
        return found
    if source.keep_anchors:
        return _without(found, documents < 0)
    return _without(found, documents < 0, lists.positions >= _FIRST_ANCHOR)


def _without(postings: _Postings, dead: BoolArray, dropped: BoolArray | None = None) -> _Postings:
    """Return the postings that are not dead, without the dropped positions."""
    if not dead.any() and (dropped is None or not dropped.any()):
        return postings
    kept = ~np.repeat(dead, postings.frequencies)
    if dropped is not None:
        kept &= ~dropped
    frequencies = np.add.reduceat(kept, starts_of(postings.frequencies), dtype=np.int32)
    alive = frequencies > 0
    ratings = tuple([rating[alive] for rating in postings.ratings])
    return _Postings(postings.keys[alive], frequencies[alive], postings.positions[kept], ratings)


def _chained(found: Sequence[_Postings]) -> _Postings:
    keys, frequencies, positions, ratings = zip(*found, strict=True)
    columns = np.concatenate(keys), np.concatenate(frequencies), np.concatenate(positions)
    return _Postings(*columns, _chained_ratings(ratings))


def _chained_ratings(found: Sequence[tuple[Octets, ...]]) -> tuple[Octets, ...]:
    return tuple(map(np.concatenate, zip(*found, strict=True)))


def _in_order(postings: _Postings) -> _Postings:
    """Return postings in the order of terms and documents, without the index in their keys.

    Postings of the same term and document keep their order.
    """
    keys, frequencies, positions, ratings = postings
    keys |= np.arange(len(keys), dtype=np.uint64)
    keys.sort()
    order = (keys & _INDEX).view(np.int64)
    keys >>= np.uint64(POSITION_BITS)
    if (order[1:] < order[:-1]).any():
        starts = starts_of(frequencies)[order]
        frequencies = frequencies[order]
        positions = positions[indices_of(starts, frequencies)]
        ratings = tuple([rating[order] for rating in ratings])
    return _Postings(keys, frequencies, positions, ratings)


def _joined(postings: _Postings) -> _Postings:
    """Return postings in order; postings of the same term and document become one.

    Lists with ratings come from sources that share no document, so nothing is joined there.
    """
    keys, frequencies, positions, ratings = postings
    firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    if len(firsts) == len(keys):
        return postings
    joined = np.add.reduceat(frequencies, firsts, dtype=frequencies.dtype)
    return _Postings(keys[firsts], joined, positions, tuple([rating[firsts] for rating in ratings]))
