"""Ranges of different lengths in one array: their starts, and the indices of all their items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.array_types import Int64Array


def starts_of(lengths: NDArray[np.integer]) -> Int64Array:
    """Return the start of each range, for ranges of these lengths that lie end to end."""
    starts = np.zeros(len(lengths), np.int64)
    np.cumsum(lengths[:-1], out=starts[1:])
    return starts


def indices_of(starts: NDArray[np.integer], lengths: NDArray[np.integer]) -> Int64Array:
    """Return the indices of all items of the ranges that begin at `starts` and have these lengths."""
    indices: Int64Array = np.repeat(starts - starts_of(lengths), lengths)
    indices += np.arange(len(indices))
    return indices
