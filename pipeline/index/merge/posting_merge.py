"""The postings of several sources merged, a slice of terms at a time.

All sources are cut at the same term, so that a slice has as many positions as the memory allows, or is one
term. A posting becomes one 64-bit key: its term, its document, and where it stands among those that are
merged, from the high bits down; once keys are sorted, the positions follow them. A document comes from one
source, and its anchors from another, so that few postings meet.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import chained, distinct, strings_of
from crawlctl.pipeline.arrays.ragged import places_of, starts_of
from crawlctl.pipeline.index.building.occurrences import listed
from crawlctl.pipeline.index.fields import ANCHOR, OFFSET_BITS, POSITION_BITS
from crawlctl.pipeline.index.runs.posting_slices import Lists
from crawlctl.pipeline.index.segment.segment_files import MAX_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.merge.sources import Slices

DOCUMENT_BITS = MAX_DOCUMENTS.bit_length() - 1
TERM_SHIFT = POSITION_BITS + DOCUMENT_BITS
MAX_TERMS = 1 << (64 - TERM_SHIFT)
_FIRST_ANCHOR = ANCHOR << OFFSET_BITS
# A slice has at most MAX_TERMS postings, and those of one term more: two for each document. Both fit.
_PLACE = np.uint64((1 << POSITION_BITS) - 1)


class Postings(NamedTuple):
    """A key for each posting, how many positions it has, and those of all end to end."""

    keys: NDArray[np.uint64]
    frequencies: NDArray[np.signedinteger]
    positions: NDArray[np.signedinteger]


class Feed:
    """The postings of a source, and how far they are merged.

    `ordinals` leads from the ordinals of the source to those of the new segment, -1 for a document that does
    not go there; without it they are the same. Anchors of old are left out: the page has new ones.
    """

    def __init__(self, slices: Slices, ordinals: NDArray[np.int32] | None) -> None:
        self._slices = slices
        self._ordinals = ordinals
        self._terms = strings_of([])
        self._at = 0

    def ready(self, positions: int) -> bool:
        """Tell whether there are terms left, and have as many positions at hand, or all that are left."""
        left = self.take(self._terms[-1]) if self._at < len(self._terms) else None
        found = [] if left is None else [left]
        held = 0 if left is None else len(left[1].positions)
        while held < positions and (more := next(self._slices, None)) is not None:
            found.append(more)
            held += len(more[1].positions)
        if found:
            self._hold(found)
        return bool(found)

    def _hold(self, found: Sequence[tuple[ByteStrings, Lists]]) -> None:
        self._at = 0
        self._terms = chained([terms for terms, _ in found])
        self._lists = found[0][1]
        if len(found) > 1:
            columns = zip(*(lists for _, lists in found), strict=True)
            self._lists = Lists(*map(np.concatenate, columns))
        self._postings = np.append(0, np.cumsum(self._lists.counts))
        self._positions = np.append(0, np.cumsum(self._lists.frequencies))[self._postings]

    def last_term(self, positions: int) -> bytes:
        """Return the last term at hand up to which there are so many positions at most, or the next term."""
        stop = int(np.searchsorted(self._positions, positions, side="right")) - 1
        return self._terms[max(stop, 1) - 1]

    def take(self, last: bytes) -> tuple[ByteStrings, Lists]:
        """Return the terms at hand up to one, and their lists."""
        start, stop = self._at, bisect_right(self._terms, last, self._at)
        self._at = stop
        postings = slice(self._postings[start], self._postings[stop])
        positions = slice(self._positions[start], self._positions[stop])
        counts, documents, frequencies, places = self._lists
        return self._terms.part(start, stop), self._lists._replace(
            counts=counts[start:stop],
            documents=documents[postings],
            frequencies=frequencies[postings],
            positions=places[positions],
        )

    def postings(self, lists: Lists, numbers: NDArray[np.int64]) -> Postings:
        """Return the postings of lists whose terms have these numbers."""
        documents = lists.documents if self._ordinals is None else self._ordinals[lists.documents]
        keys = np.repeat(numbers << TERM_SHIFT, lists.counts)
        keys += documents.astype(np.int64) << POSITION_BITS
        found = Postings(keys.view(np.uint64), lists.frequencies, lists.positions)
        if self._ordinals is None:
            return found
        return _without(found, documents < 0, lists.positions >= _FIRST_ANCHOR)


def merged(feeds: Sequence[Feed], positions: int) -> Iterator[tuple[ByteStrings, Lists]]:
    """Yield the terms that have documents left, in byte order, with their lists.

    What a feed tells of a document stands behind what earlier feeds do, so those of anchors come last.
    """
    # Each term has one position at least.
    share = max(min(positions, MAX_TERMS) // max(len(feeds), 1), 1)
    while ready := [feed for feed in feeds if feed.ready(share)]:
        last = min(feed.last_term(share) for feed in ready)
        taken = [feed.take(last) for feed in ready]
        names, numbers = numbered([terms for terms, _ in taken])
        parts = [
            feed.postings(lists, number)
            for feed, (_, lists), number in zip(ready, taken, numbers, strict=True)
            if len(number)
        ]
        del taken
        together = (
            parts.pop() if len(parts) == 1 else Postings(*map(np.concatenate, zip(*parts, strict=True)))
        )
        del parts
        if len(together.keys):
            found, lists = listed(*_joined(_in_order(together)), DOCUMENT_BITS)
            yield names.take(found), lists


def _without(postings: Postings, dead: NDArray[np.bool_], unwanted: NDArray[np.bool_]) -> Postings:
    """Return postings without those that are dead, and without positions that are unwanted."""
    if not dead.any() and not unwanted.any():
        return postings
    kept = ~unwanted
    kept &= ~np.repeat(dead, postings.frequencies)
    frequencies = np.add.reduceat(kept, starts_of(postings.frequencies), dtype=np.int32)
    alive = frequencies > 0
    return Postings(postings.keys[alive], frequencies[alive], postings.positions[kept])


def _in_order(postings: Postings) -> Postings:
    """Return postings in the order of their terms and documents; of equals the first stays first."""
    keys, frequencies, positions = postings
    keys |= np.arange(len(keys), dtype=np.uint64)
    keys.sort()
    order = (keys & _PLACE).view(np.int64)
    keys >>= np.uint64(POSITION_BITS)
    if (order[1:] < order[:-1]).any():
        starts = starts_of(frequencies)[order]
        frequencies = frequencies[order]
        positions = positions[places_of(starts, frequencies)]
    return Postings(keys, frequencies, positions)


def _joined(postings: Postings) -> Postings:
    """Return postings in order with what several sources tell of one document of a term put together."""
    keys, frequencies, positions = postings
    firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    if len(firsts) == len(keys):
        return postings
    return Postings(keys[firsts], np.add.reduceat(frequencies, firsts, dtype=frequencies.dtype), positions)


def numbered(terms: Sequence[ByteStrings]) -> tuple[ByteStrings, list[NDArray[np.int64]]]:
    """Return all terms in order, and the numbers of those of each source among them."""
    if len(terms) == 1:
        return terms[0], [np.arange(len(terms[0]))]
    names, numbers = distinct(chained(terms))
    return names, np.split(numbers, np.cumsum([*map(len, terms)])[:-1])
