"""The terms of several segments merged, a stretch at a time, with the places of their lists.

All segments are cut at the same term. Sorting what they have up to there brings equal terms together, that of
the first segment first.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import (
    ByteStrings,
    big_endian,
    byte_order,
    chained,
    first_of_equals,
    strings_of,
)
from crawlctl.pipeline.index.segment.dictionary import NUMBER_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Columns = tuple[ByteStrings, ByteStrings]  # terms, and the place of the list of each

TERMS_AT_ONCE = 1 << 16


def merged(segments: Sequence[Iterable[Columns]]) -> Iterator[Columns]:
    """Yield the terms of all segments in byte order with their values, many at a time."""
    feeds = [_Feed(number, iter(columns)) for number, columns in enumerate(segments)]
    share = max(TERMS_AT_ONCE // max(len(feeds), 1), 1)
    while ready := [feed for feed in feeds if feed.ready(share)]:
        last = min(feed.last for feed in ready)
        yield _joined([feed.take(last) for feed in ready], [feed.number for feed in ready])


class _Feed:
    """The terms of a segment, and how far they are merged."""

    def __init__(self, number: int, columns: Iterator[Columns]) -> None:
        self.number = number
        self._columns = columns
        self._terms = self._places = strings_of([])

    def ready(self, count: int) -> bool:
        """Tell whether there are terms left, and have as many at hand, or all that are left."""
        found = [(self._terms, self._places)]
        held = len(self._terms)
        while held < count and (more := next(self._columns, None)) is not None:
            found.append(more)
            held += len(more[0])
        if len(found) > 1:
            self._terms, self._places = map(chained, zip(*found, strict=True))
        return held > 0

    @property
    def last(self) -> bytes:
        """The last term at hand."""
        return self._terms[-1]

    def take(self, last: bytes) -> Columns:
        """Return the terms at hand up to one, with their places."""
        # Were its terms out of order, a search might find none of them, again and again.
        stop = len(self._terms) if last == self.last else bisect_right(self._terms, last)
        taken = self._terms.part(0, stop), self._places.part(0, stop)
        self._terms = self._terms.part(stop, len(self._terms))
        self._places = self._places.part(stop, len(self._places))
        return taken


def _joined(taken: Sequence[Columns], numbers: Sequence[int]) -> Columns:
    """Return the terms of segments of these numbers in order, the value of each made of all its places."""
    terms, places = map(chained, zip(*taken, strict=True))
    order, firsts = _ordered(terms, [len(some) for some, _ in taken])
    places = places.take(order)
    octets, starts = places.laid_out(before=NUMBER_BYTES)
    heads = np.repeat(numbers, [len(some) for some, _ in taken])[order]
    for place, column in enumerate(big_endian(heads, NUMBER_BYTES).T):
        octets[starts + (place - NUMBER_BYTES)] = column
    lengths = np.add.reduceat(places.lengths + NUMBER_BYTES, firsts)
    return terms.take(order[firsts]), ByteStrings(octets, starts[firsts] - NUMBER_BYTES, lengths)


def _ordered(terms: ByteStrings, counts: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places of terms of several segments in byte order, and which of them are new terms."""
    if len(counts) == 1:
        return np.arange(len(terms)), np.arange(len(terms))
    order = byte_order(terms)
    first = first_of_equals(terms.take(order))
    numbers = np.empty(len(terms), np.intp)
    numbers[order] = np.cumsum(first)
    if any((np.diff(some) < 1).any() for some in np.split(numbers, np.cumsum(counts)[:-1])):
        raise ValueError("the terms of a segment are not in order")
    return order, np.flatnonzero(first)
