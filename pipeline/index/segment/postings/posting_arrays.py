"""Many posting lists in a few numpy arrays, and the gaps that files keep of their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.index.segment.postings.short_numbers import MAX_NUMBER

if TYPE_CHECKING:
    from typing import TypeVar

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.array_types import Int64Array, Octets

    _Number = TypeVar("_Number", bound=np.signedinteger)


class Lists(NamedTuple):
    """Many posting lists end to end, in the order of their terms."""

    counts: Int64Array  # documents per list
    documents: NDArray[np.signedinteger]  # one ordinal per posting
    frequencies: NDArray[np.signedinteger]  # positions per posting
    positions: NDArray[np.signedinteger]
    # One byte per posting each: impacts and field masks. Empty where they are not read or not computed yet.
    ratings: tuple[Octets, ...] = ()


def gaps_of(numbers: NDArray[_Number], starts: Int64Array) -> NDArray[_Number]:
    """Return each number minus the number before it; from the numbers at `starts` -1 is subtracted."""
    gaps = np.empty_like(numbers)
    np.subtract(numbers[1:], numbers[:-1], out=gaps[1:])
    gaps[starts] = numbers[starts] + 1
    if gaps.min() < 1 or gaps.max() > MAX_NUMBER:
        raise ValueError(f"ordinals or positions do not rise or reach {MAX_NUMBER}; write smaller runs")
    return gaps


def risen(gaps: NDArray[_Number], lengths: NDArray[np.integer]) -> NDArray[_Number]:
    """Return the numbers that `gaps_of` was given, for ranges of these lengths; overwrites the gaps."""
    # The first gap of each range is changed into the step from the last number of the range before, which may
    # be negative. Then one cumulative sum gives all numbers.
    starts = starts_of(lengths)[1:]
    reached = gaps.cumsum(dtype=gaps.dtype)[starts - 1]
    gaps[starts] -= reached
    gaps[starts[1:]] += reached[:-1]
    gaps[0] -= 1
    return np.cumsum(gaps, dtype=gaps.dtype, out=gaps)
