"""Posting lists on their way to another segment, with the impacts they have.

A merge makes impacts anew from the lengths of today. A copy must not: its answers are to be those of the
source, to the last digit.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.arrays.ragged import places_of, starts_of
from crawlctl.pipeline.index.merge.posting_merge import numbered
from crawlctl.pipeline.index.runs.posting_slices import Lists, Rated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.merge.sources import SegmentSource

    RatedSlices = Iterator[tuple[ByteStrings, Rated]]

TERM_SHIFT = 32


def moved_slices(source: SegmentSource, new: NDArray[np.int32]) -> RatedSlices:
    """Yield the terms of a segment that have documents left, many at a time.

    `new` leads from the ordinals of the segment to new ones, which rise with them; −1 are left out.
    """
    for terms, rated in source.rated_slices():
        lists, stay = moved(rated.lists, new)
        kept = np.flatnonzero(lists.counts)
        if len(kept):
            lists = lists._replace(counts=lists.counts[kept])
            yield terms.take(kept), Rated(lists, rated.impacts[stay], rated.masks[stay])


def moved(lists: Lists, new: NDArray[np.int32]) -> tuple[Lists, NDArray[np.bool_]]:
    """Return lists with new ordinals, perhaps some without documents, and which postings are left."""
    documents = new[lists.documents]
    stay = documents >= 0
    counts = np.add.reduceat(stay.astype(np.int64), starts_of(lists.counts))
    positions = lists.positions[np.repeat(stay, lists.frequencies)]
    kept = Lists(counts, documents[stay].astype(np.int64), lists.frequencies[stay], positions)
    return kept, stay


def merged(sources: Sequence[RatedSlices]) -> RatedSlices:
    """Yield the terms of all sources in byte order with their lists; no two sources share a document."""
    if len(sources) == 1:
        yield from sources[0]
        return
    feeds = [_Feed(source) for source in sources]
    while ready := [feed for feed in feeds if feed.is_ready()]:
        last = min(feed.last for feed in ready)
        taken = [one for one in (feed.take(last) for feed in ready) if one[0]]
        yield taken[0] if len(taken) == 1 else _joined(taken)


class _Feed:
    """The slices of a source, and how far one is merged."""

    def __init__(self, slices: RatedSlices) -> None:
        self._slices = slices
        self._terms = strings_of([])
        self._at = 0

    def is_ready(self) -> bool:
        """Have terms at hand; False where none are left."""
        if self._at == len(self._terms):
            more = next(self._slices, None)
            if more is None:
                return False
            self._terms, self._rated = more
            self._at = 0
            self._postings = np.append(0, np.cumsum(self._rated.lists.counts))
            self._positions = np.append(0, np.cumsum(self._rated.lists.frequencies))[self._postings]
        return True

    @property
    def last(self) -> bytes:
        """The last term at hand."""
        return self._terms[-1]

    def take(self, last: bytes) -> tuple[ByteStrings, Rated]:
        """Return the terms at hand up to one, and their lists."""
        start, stop = self._at, bisect_right(self._terms, last, self._at)
        self._at = stop
        postings = slice(self._postings[start], self._postings[stop])
        positions = slice(self._positions[start], self._positions[stop])
        (counts, documents, frequencies, places), impacts, masks = self._rated
        lists = Lists(counts[start:stop], documents[postings], frequencies[postings], places[positions])
        return self._terms.part(start, stop), Rated(lists, impacts[postings], masks[postings])


def _joined(taken: Sequence[tuple[ByteStrings, Rated]]) -> tuple[ByteStrings, Rated]:
    """Return all lists in the order of terms, and each list in that of documents."""
    names, numbers = numbered([terms for terms, _ in taken])
    repeated = map(np.repeat, numbers, (rated.lists.counts for _, rated in taken))
    of_terms = np.concatenate(list(repeated))
    _, documents, frequencies, positions = (
        np.concatenate(columns) for columns in zip(*(rated.lists for _, rated in taken), strict=True)
    )
    order = np.argsort(of_terms << TERM_SHIFT | documents)
    starts = starts_of(frequencies)[order]
    frequencies = frequencies[order]
    lists = Lists(
        np.bincount(of_terms, minlength=len(names)),
        documents[order],
        frequencies,
        positions[places_of(starts, frequencies)],
    )
    impacts = np.concatenate([rated.impacts for _, rated in taken])[order]
    return names, Rated(lists, impacts, np.concatenate([rated.masks for _, rated in taken])[order])
