"""DueTotals: how many rows of a part fall due in each range of times, and the first and last due time there.

The due times of a part are the due times of the rows of all layers, without those of the rows that newer
layers replace. Both are sorted columns of the extracts, so the times in a range are counted by bisection. To
find the first and the last time, only a few times at the ends of the range are looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.webdb.extract.extract_file import LATEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.webdb.extract.extract_file import Numbers
    from crawlctl.pipeline.webdb.extract.part_extract import PartExtract

    Times = NDArray[np.uint32]

_FIRST_LOOK = 64  # how many times of each column are looked at first, at an end of a range


class DueTotals:
    """The due times in the sorted columns `there`, without the times in the sorted columns `away`."""

    def __init__(self, there: Sequence[Times], away: Sequence[Times]) -> None:
        self._there, self._away = tuple(there), tuple(away)

    @classmethod
    def after(cls, extract: PartExtract, gone: Numbers, new: Numbers) -> DueTotals:
        """Return the due times of a part after a change, given the old and new times of changed rows."""
        there = [layer.whole("dues") for layer in extract.layers]
        away = [layer.whole("replaced_dues") for layer in extract.layers]
        return cls([*there, _column(new)], [*away, _column(gone)])

    def ranges(self, bounds: Sequence[int]) -> Iterator[tuple[int, int, int]]:
        """Yield the first time, the last time and the number of rows of each range that has rows.

        The first range ends at the first bound, each other range begins after a bound. The last range has no
        end.
        """
        for low, high in zip([-1, *bounds], [*bounds, LATEST], strict=True):
            found = DueTotals(
                [_between(one, low, high) for one in self._there],
                [_between(one, low, high) for one in self._away],
            )
            if (count := found.count()) > 0:
                yield found.end(_heads, min), found.end(_tails, max), count

    def count(self) -> int:
        """Return the number of due times."""
        return sum(map(len, self._there)) - sum(map(len, self._away))

    def end(
        self,
        ends: Callable[[Sequence[Times], int], tuple[Times, bool]],
        choose: Callable[[Sequence[int]], int],
    ) -> int:
        """Return the first due time (`ends` is `_heads`, `choose` is `min`) or the last (`_tails`, `max`)."""
        look = _FIRST_LOOK
        while True:
            times, is_all = ends((*self._there, *self._away), look)
            found = times[self._counts(times) > 0].tolist()
            if found or is_all:
                return choose(found)
            look *= 4

    def _counts(self, times: Times) -> Numbers:
        """Return how many rows are due at each of these times."""
        counts = np.zeros(len(times), np.int64)
        for columns, sign in ((self._there, 1), (self._away, -1)):
            for column in columns:
                found = np.searchsorted(column, times, "right") - np.searchsorted(column, times, "left")
                counts += sign * found
        return counts


def _column(times: Numbers) -> Times:
    return np.sort(np.clip(times, 0, LATEST)).astype(np.uint32)


def _between(column: Times, low: int, high: int) -> Times:
    """Return the times above `low` and up to `high`."""
    start = 0 if low < 0 else int(np.searchsorted(column, np.uint32(min(low, LATEST)), "right"))
    return column[start : int(np.searchsorted(column, np.uint32(min(high, LATEST)), "right"))]


def _heads(columns: Sequence[Times], look: int) -> tuple[Times, bool]:
    """Return the earliest different times of all columns together, and whether these are all times.

    Of each column the first `look` times are read. Later times than the earliest of their ends may be
    incomplete, so they are left out.
    """
    seen = np.unique(np.concatenate([column[:look] for column in columns]))
    cut = min((int(column[look - 1]) for column in columns if len(column) > look), default=None)
    return (seen, True) if cut is None else (seen[seen <= cut], False)


def _tails(columns: Sequence[Times], look: int) -> tuple[Times, bool]:
    """Return the latest different times of all columns together, and whether these are all times."""
    seen = np.unique(np.concatenate([column[-look:] for column in columns]))
    cut = max((int(column[-look]) for column in columns if len(column) > look), default=None)
    return (seen, True) if cut is None else (seen[seen >= cut], False)
