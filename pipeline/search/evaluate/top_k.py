"""Finds the greatest numbers of an array without sorting it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Indices = NDArray[np.intp]
    # takes indices, returns the keys of the numbers at these indices
    Keys = Callable[[Indices], NDArray[np.uint64]]

_GROUPS = 8  # how many groups are made per number to find
_FEW = 64
_MANY = 4096


def best_indices(numbers: NDArray[np.integer], count: int, keys: Keys) -> Indices:
    """Return the indices of the `count` greatest numbers above 0, the greatest first.

    Of equal numbers, those with the least keys come first; `keys` is asked for keys only where numbers are
    equal.
    """
    if count <= 0:
        return np.zeros(0, np.intp)
    indices = (numbers >= _least(numbers, count)).nonzero()[0]
    found = numbers[indices]
    if len(indices) > count:
        kept = _cut(indices, found, count, keys)
        indices, found = indices[kept], found[kept]
    order = (-found).argsort(kind="stable")
    ordered = found[order]
    equal = np.zeros(len(order) + 1, np.bool_)
    np.equal(ordered[1:], ordered[:-1], out=equal[1:-1])
    tied = order[equal[1:] | equal[:-1]]
    if len(tied):
        ties = np.zeros(len(order), np.uint64)
        ties[tied] = keys(indices[tied])
        order = np.lexsort((ties, -found))
    return indices[order]


def _least(numbers: NDArray[np.integer], count: int) -> int:
    """Return a threshold that at least `count` numbers reach, and not many more.

    A long array is split into groups, and only the greatest number of each group is looked at: the `count`-th
    greatest of these cannot be above the `count`-th greatest of all. Partitioning the whole array takes three
    times as long.
    """
    length = len(numbers)
    if length <= max(_FEW, count):
        return 1
    groups = _GROUPS * max(count, _FEW // 2)
    if length >= 4 * groups:
        rows = length // groups
        numbers = numbers[: rows * groups].reshape(rows, groups).max(axis=0)
        length = groups
    return max(int(np.partition(numbers, length - count)[length - count]), 1)


def _cut(indices: Indices, found: NDArray[np.integer], count: int, keys: Keys) -> Indices:
    """Return where the `count` greatest numbers stand in `found`, which has more; the least keys win."""
    least = np.partition(found, len(found) - count)[len(found) - count]
    above = (found > least).nonzero()[0]
    equal = (found == least).nonzero()[0]
    room = count - len(above)
    if len(equal) > room:
        equal = equal[np.argpartition(keys(indices[equal]), room - 1)[:room]]
    return np.concatenate((above, equal))
