"""The postings of several sources merged, a slice of terms at a time.

All sources are cut at the same term, so that a slice has as many positions as the memory allows, or is one
term. What a source tells of its slice becomes keys; sorting them does the rest (index/occurrences.py).
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.formats.bytestrings import chained, distinct, strings_of
from crawlctl.pipeline.index.fields import ANCHOR, OFFSET_BITS, POSITION_BITS
from crawlctl.pipeline.index.occurrences import grouped
from crawlctl.pipeline.index.postings import Lists
from crawlctl.pipeline.index.segments import MAX_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.formats.bytestrings import ByteStrings
    from crawlctl.pipeline.merge.sources import Slices

    Keys = NDArray[np.uint64]

DOCUMENT_BITS = MAX_DOCUMENTS.bit_length() - 1
TERM_SHIFT = POSITION_BITS + DOCUMENT_BITS
MAX_TERMS = 1 << (64 - TERM_SHIFT)
_FIRST_ANCHOR = ANCHOR << OFFSET_BITS


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

    def keys(self, lists: Lists, numbers: NDArray[np.int64]) -> Keys:
        """Return the keys of lists whose terms have these numbers."""
        documents = lists.documents if self._ordinals is None else self._ordinals[lists.documents]
        bases = np.repeat(numbers << TERM_SHIFT, lists.counts) + (documents.astype(np.int64) << POSITION_BITS)
        keys = np.repeat(bases, lists.frequencies)
        keys += lists.positions
        if self._ordinals is not None:
            kept = lists.positions < _FIRST_ANCHOR
            if (dead := documents < 0).any():
                kept &= ~np.repeat(dead, lists.frequencies)
            if not kept.all():
                keys = keys[kept]
        return keys.view(np.uint64)


def merged(feeds: Sequence[Feed], positions: int) -> Iterator[tuple[ByteStrings, Lists]]:
    """Yield the terms that have documents left, in byte order, with their lists."""
    # Each term has one position at least.
    share = max(min(positions, MAX_TERMS) // max(len(feeds), 1), 1)
    while ready := [feed for feed in feeds if feed.ready(share)]:
        last = min(feed.last_term(share) for feed in ready)
        taken = [feed.take(last) for feed in ready]
        names, numbers = numbered([terms for terms, _ in taken])
        parts = [
            feed.keys(lists, number)
            for feed, (_, lists), number in zip(ready, taken, numbers, strict=True)
            if len(number)
        ]
        del taken
        keys = parts.pop() if len(parts) == 1 else np.concatenate(parts)
        del parts
        if len(keys):
            keys.sort()
            found, lists = grouped(keys, DOCUMENT_BITS)
            yield names.take(found), lists


def numbered(terms: Sequence[ByteStrings]) -> tuple[ByteStrings, list[NDArray[np.int64]]]:
    """Return all terms in order, and the numbers of those of each source among them."""
    if len(terms) == 1:
        return terms[0], [np.arange(len(terms[0]))]
    names, numbers = distinct(chained(terms))
    return names, np.split(numbers, np.cumsum([*map(len, terms)])[:-1])
