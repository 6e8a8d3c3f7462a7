"""Reads and writes the short numbers of posting lists with numpy, thousands of lists at a time.

short_numbers.py describes the code of the numbers. In all functions `blob` holds the bytes of many lists, and
`base` has one offset in `blob` per list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.arrays.ragged import indices_of, starts_of
from crawlctl.pipeline.index.segment.postings.short_numbers import FIRST_OF_TWO, LARGE, LARGE_PLANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.array_types import Int32Array, Int64Array, Octets

_LONG = 64  # bytes: a longer range is copied faster as a whole than index by index


def read_array(body: Octets, start: int, length: int) -> tuple[Int32Array, int]:
    """Return the same as `read_numbers`, as an array."""
    firsts = body[start : start + length]
    numbers = firsts.astype(np.int32)
    longer = (firsts >= FIRST_OF_TWO).nonzero()[0]
    if not len(longer) and len(firsts) == length:  # as in most short lists
        return numbers, start + length
    highs = firsts[longer]
    is_large = highs == LARGE
    large = longer[is_large]
    seconds_at = start + length
    large_at = seconds_at + len(longer) - len(large)
    end = large_at + LARGE_PLANES * len(large)
    if len(firsts) < length or end > len(body):
        raise ValueError(f"a posting list ends before {length} numbers of it")
    seconds = np.zeros(len(longer), np.uint8)
    seconds[~is_large] = body[seconds_at:large_at]
    numbers[longer] = ((highs.astype(np.int32) - FIRST_OF_TWO) << 8) + seconds + FIRST_OF_TWO
    planes = body[large_at:end].reshape(LARGE_PLANES, -1).astype(np.int32)
    numbers[large] = planes[0] | planes[1] << 8 | planes[2] << 16
    return numbers, end


def read_arrays(
    blob: Octets, base: Int64Array, lengths: Int64Array, limits: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """Return the numbers of many lists end to end, and the offset in `blob` behind each list.

    A list of `lengths[i]` numbers begins at `base[i]`. If it reaches beyond `limits[i]`, a ValueError is
    raised.
    """
    _demand(base + lengths <= limits)
    firsts = blob[indices_of(base, lengths)]
    numbers = firsts.astype(np.int64)
    longer = np.flatnonzero(firsts >= FIRST_OF_TWO)
    if not len(longer):
        return numbers, base + lengths
    owners = np.searchsorted(np.cumsum(lengths), longer, side="right")
    is_large = firsts[longer] == LARGE
    seconds = np.bincount(owners[~is_large], minlength=len(lengths))
    large = np.bincount(owners[is_large], minlength=len(lengths))
    large_at = base + lengths + seconds
    ends = large_at + LARGE_PLANES * large
    _demand(ends <= limits)
    two = longer[~is_large]
    low_bytes = blob[indices_of(base + lengths, seconds)]
    numbers[two] = ((numbers[two] - FIRST_OF_TWO) << 8) + low_bytes + FIRST_OF_TWO
    numbers[longer[is_large]] = _gather_planes(blob, large_at, large)
    return numbers, ends


def pack_array(numbers: NDArray[np.signedinteger]) -> bytes:
    """Return the bytes of one list, which `read_array` reads."""
    coded = _coded(numbers)
    planes = [(coded.large >> 8 * plane).astype(np.uint8) for plane in range(LARGE_PLANES)]
    return b"".join(section.tobytes() for section in (coded.firsts, coded.seconds, *planes))


class _Coded(NamedTuple):
    """Numbers split into the three kinds of bytes of the code."""

    firsts: Octets
    seconds: Octets
    large: NDArray[np.signedinteger]
    longer: NDArray[np.intp]  # the indices of numbers that take more than one byte
    large_of_longer: NDArray[np.intp]  # the indices of large numbers among `longer`


def _coded(numbers: NDArray[np.signedinteger]) -> _Coded:
    firsts = numbers.astype(np.uint8)
    longer = np.flatnonzero(numbers >= FIRST_OF_TWO)
    beyond = numbers[longer] - FIRST_OF_TWO
    highs = np.minimum(FIRST_OF_TWO + (beyond >> 8), LARGE).astype(np.uint8)
    firsts[longer] = highs
    large = np.flatnonzero(highs == LARGE)
    seconds = beyond.astype(np.uint8)
    if len(large):
        seconds = np.delete(seconds, large)
    return _Coded(firsts, seconds, beyond[large] + FIRST_OF_TWO, longer, large)


class NumbersWriter:
    """The coded numbers of many lists, kept until the caller knows the offset of each list.

    List i is `numbers[starts[i] : starts[i] + lengths[i]]`. Numbers outside all lists are skipped; each of
    them must be below 224.
    """

    def __init__(self, numbers: NDArray[np.signedinteger], lengths: Int64Array, starts: Int64Array) -> None:
        self._lengths, self._starts = lengths, starts
        self._firsts, self._seconds, self._large, longer, large = _coded(numbers)
        bounds = np.searchsorted(longer, np.append(starts, len(numbers)))
        self._large_counts = np.diff(np.searchsorted(large, bounds))
        self._second_counts = np.diff(bounds) - self._large_counts
        self.sizes: Int64Array = lengths + self._second_counts + LARGE_PLANES * self._large_counts

    def write(self, blob: Octets, base: Int64Array) -> None:
        """Write the bytes of list i to `blob` from `base[i]` on: `sizes[i]` bytes."""
        put(blob, base, self._firsts, self._starts, self._lengths)
        behind = base + self._lengths
        if len(self._seconds):
            put(blob, behind, self._seconds, starts_of(self._second_counts), self._second_counts)
        if len(self._large):
            having = np.flatnonzero(self._large_counts)
            at, counts = (behind + self._second_counts)[having], self._large_counts[having]
            _scatter_planes(blob, at, self._large, counts)


def put(blob: Octets, base: Int64Array, octets: Octets, starts: Int64Array, lengths: Int64Array) -> None:
    """Copy `octets[starts[i] : starts[i] + lengths[i]]` to `blob` from `base[i]` on, for every i."""
    single = np.flatnonzero(lengths == 1)
    blob[base[single]] = octets[starts[single]]
    several = np.flatnonzero(lengths > 1)
    base, starts, lengths = base[several], starts[several], lengths[several]
    long = lengths >= _LONG
    short = np.flatnonzero(~long)
    counts = lengths[short]
    blob[indices_of(base[short], counts)] = octets[indices_of(starts[short], counts)]
    into, source = blob.data, octets.data
    columns = (base[long].tolist(), starts[long].tolist(), lengths[long].tolist())
    for at, start, length in zip(*columns, strict=True):
        into[at : at + length] = source[start : start + length]


def _scatter_planes(
    blob: Octets, base: Int64Array, numbers: NDArray[np.signedinteger], counts: Int64Array
) -> None:
    """Write the large numbers of each list behind its base, plane by plane."""
    indices, steps = indices_of(base, counts), np.repeat(counts, counts)
    for plane in range(LARGE_PLANES):
        blob[indices] = (numbers >> 8 * plane).astype(np.uint8)
        indices += steps


def _gather_planes(blob: Octets, base: Int64Array, counts: Int64Array) -> Int64Array:
    """Return the numbers that `_scatter_planes` has written."""
    numbers = np.zeros(int(counts.sum()), np.int64)
    for plane in range(LARGE_PLANES):
        indices = indices_of(base + plane * counts, counts)
        numbers |= blob[indices].astype(np.int64) << 8 * plane
    return numbers


def _demand(sound: NDArray[np.bool_]) -> None:
    if not sound.all():
        raise ValueError("a posting list ends before its numbers do")
