"""Merges the sorted strings of several sources, a slice at a time: the k-way merge of terms.

A source yields slices: strings in byte order, and the columns that belong to them. The caller decides what
the columns are: values of a dictionary, posting lists, or posting lists with impacts. In each step all
sources are cut at the same string, so that equal strings come together, and the caller joins their columns.

Each source has to check that its strings rise, over all its slices (`last_above`): a merge of strings out of
order might not end.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import chained, distinct, strings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawlctl.pipeline.arrays.array_types import Int64Array
    from crawlctl.pipeline.arrays.byte_strings import ByteStrings

_Columns = TypeVar("_Columns")
_Columns_co = TypeVar("_Columns_co", covariant=True)


class Held(Protocol[_Columns_co]):
    """The columns of strings that a feed holds; they can be cut between any two strings."""

    @property
    def ends(self) -> Int64Array:
        """The size of the columns before each string, and of all: one item more than there are strings."""

    def between(self, start: int, stop: int) -> _Columns_co:
        """Return the columns of the strings with an index from `start` on and below `stop`."""


@dataclass(frozen=True)
class Taken(Generic[_Columns]):
    """The strings that one source has in a step of a merge, with their columns."""

    source: int  # its index among the sources
    strings: ByteStrings
    columns: _Columns


def merge_sorted(
    sources: Sequence[Iterator[tuple[ByteStrings, _Columns]]],
    size_of: Callable[[_Columns], int],
    hold: Callable[[Sequence[_Columns]], Held[_Columns]],
    size: int,
) -> Iterator[list[Taken[_Columns]]]:
    """Yield steps of the merge: the strings of each source up to a string that is the same for all sources.

    The columns of a step have about `size`, or belong to one string. `size_of` measures the columns of a
    slice as `Held.ends` does, and `hold` chains the columns of several slices of one source.
    """
    feeds = [_Feed(number, slices, size_of, hold) for number, slices in enumerate(sources)]
    share = max(size // max(len(feeds), 1), 1)
    while filled := [feed for feed in feeds if feed.fill(share)]:
        last = min(feed.last(share) for feed in filled)
        yield [taken for taken in [feed.take(last) for feed in filled] if len(taken.strings)]


def number_strings(taken: Sequence[Taken[_Columns]]) -> tuple[ByteStrings, list[Int64Array]]:
    """Return the strings of a step in order, each once, and for each source the indices of its strings."""
    if len(taken) == 1:
        return taken[0].strings, [np.arange(len(taken[0].strings))]
    strings, numbers = distinct(chained([one.strings for one in taken]))
    return strings, np.split(numbers, np.cumsum([len(one.strings) for one in taken])[:-1])


class _Feed(Generic[_Columns]):
    """One source of a merge: the strings that were read and are not merged yet, and the slices to come."""

    def __init__(
        self,
        number: int,
        slices: Iterator[tuple[ByteStrings, _Columns]],
        size_of: Callable[[_Columns], int],
        hold: Callable[[Sequence[_Columns]], Held[_Columns]],
    ) -> None:
        self._number = number
        self._slices = slices
        self._size_of = size_of
        self._hold = hold
        self._strings = strings_of([])
        self._held = hold([])
        self._at = 0  # the index of the next string

    def fill(self, size: int) -> bool:
        """Read slices until the columns have this size or the source ends.

        Return False if nothing is left.
        """
        ends = self._held.ends
        held = int(ends[-1] - ends[self._at])
        if held >= size:
            return True
        left = self._take(len(self._strings))
        found = [(left.strings, left.columns)] if len(left.strings) else []
        while held < size and (more := next(self._slices, None)) is not None:
            found.append(more)
            held += self._size_of(more[1])
        self._strings = chained([strings for strings, _ in found]) if found else strings_of([])
        self._held = self._hold([columns for _, columns in found])
        self._at = 0
        return bool(found)

    def last(self, size: int) -> bytes:
        """Return the last string up to which the columns have at most this size, or the next string."""
        ends = self._held.ends
        stop = int(np.searchsorted(ends, ends[self._at] + size, side="right")) - 1
        return self._strings[max(stop, self._at + 1) - 1]

    def take(self, last: bytes) -> Taken[_Columns]:
        """Return the strings up to `last`, and forget them."""
        return self._take(bisect_right(self._strings, last, self._at))

    def _take(self, stop: int) -> Taken[_Columns]:
        start, self._at = self._at, stop
        return Taken(self._number, self._strings.between(start, stop), self._held.between(start, stop))
