"""Finds the greatest numbers of an array without sorting it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices = NDArray[np.intp]

_GROUPS = 8  # per number asked for
_FEW = 64
_MANY = 4096


def best_indices(numbers: NDArray[np.integer], count: int) -> Indices:
    """Return the indices of the `count` greatest numbers above 0, the greatest first, equal ones in order."""
    if count <= 0:
        return np.zeros(0, np.intp)
    indices = (numbers >= _least(numbers, count)).nonzero()[0]
    found = numbers[indices]
    if len(indices) > _MANY and len(indices) > 2 * count:
        indices, found = _cut(indices, found, count)
    order = (-found).argsort(kind="stable")[:count]
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


def _cut(indices: Indices, found: NDArray[np.integer], count: int) -> tuple[Indices, NDArray[np.integer]]:
    """Return the indices of the `count` greatest numbers and the numbers, where many are equal."""
    least = np.partition(found, len(found) - count)[len(found) - count]
    above = (found > least).nonzero()[0]
    equal = (found == least).nonzero()[0][: count - len(above)]
    kept = np.sort(np.concatenate((above, equal)))
    return indices[kept], found[kept]
