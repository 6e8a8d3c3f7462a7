"""The places of the greatest numbers of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.intp]

_GROUPS = 8  # for each number wanted
_FEW = 64
_MANY = 4096


def best_places(numbers: NDArray[np.integer], count: int) -> Places:
    """Return the places of the `count` greatest numbers above 0, the greatest and the first before others."""
    if count <= 0:
        return np.zeros(0, np.intp)
    places = (numbers >= _least(numbers, count)).nonzero()[0]
    found = numbers[places]
    if len(places) > _MANY and len(places) > 2 * count:
        places, found = _cut(places, found, count)
    order = (-found).argsort(kind="stable")[:count]
    return places[order]


def _least(numbers: NDArray[np.integer], count: int) -> int:
    """Return a number that at least `count` reach, and not many more.

    In a long array the greatest of each of some groups are looked at: the `count`-th greatest of them cannot
    be above the `count`-th greatest of all. Partitioning the whole array takes three times as long.
    """
    length = len(numbers)
    if length <= max(_FEW, count):
        return 1
    groups = _GROUPS * max(count, _FEW)
    if length > _MANY and length >= 2 * groups:
        rows = length // groups
        numbers = numbers[: rows * groups].reshape(rows, groups).max(axis=0)
        length = groups
    return max(int(np.partition(numbers, length - count)[length - count]), 1)


def _cut(places: Places, found: NDArray[np.integer], count: int) -> tuple[Places, NDArray[np.integer]]:
    """Return the places of the `count` greatest, and these, where many are equal."""
    least = np.partition(found, len(found) - count)[len(found) - count]
    above = (found > least).nonzero()[0]
    equal = (found == least).nonzero()[0][: count - len(above)]
    kept = np.sort(np.concatenate((above, equal)))
    return places[kept], found[kept]
