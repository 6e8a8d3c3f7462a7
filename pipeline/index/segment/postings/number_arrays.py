"""Numbers below 2²⁴, most of them small: a byte each, and what does not fit behind all of those bytes.

    firsts    1 byte each: a number below 224 itself; from 224 to 254 the high bits of a number of two bytes;
              255 stands for a large one
    seconds   1 byte for each number of two bytes, its low bits; such numbers begin at 224 and end below 8160
    large     the large ones in three planes (index/segment/postings/short_numbers.py)

Plain Python reads the firsts of a list without large gaps as the numbers they are; numpy reads and writes
thousands of lists at a time. On the positions of 3,000 web pages this took a fifth less room than a byte each
and patches for what exceeds it, and a twelfth less when both were deflated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.arrays.ragged import places_of, starts_of
from crawlctl.pipeline.index.segment.postings.short_numbers import gather, put, read_planes, scatter

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from crawlctl.pipeline.index.segment.postings.short_numbers import Integers, Octets

MAX_BYTES = 4  # of one number

_TWO = 224
_LARGE = 255
_LARGE_PLANES = 3
_SINGLE = bytes(range(_TWO))


def read_numbers(body: bytes, start: int, length: int) -> tuple[Sequence[int], int]:
    """Return the numbers that begin at `start`, and where they end; where they are cut off, a ValueError."""
    firsts = body[start : start + length]
    longer = firsts.translate(None, _SINGLE)
    large = longer.count(_LARGE)
    large_at = start + length + len(longer) - large
    end = large_at + _LARGE_PLANES * large
    if len(firsts) < length or end > len(body):
        raise ValueError(f"a posting list ends before {length} numbers of it")
    if not longer:
        return firsts, end
    seconds = iter(body[start + length : large_at])
    thirds = iter(read_planes(body, large_at, large, _LARGE_PLANES))
    return [
        first
        if first < _TWO
        else ((first - _TWO) << 8) + next(seconds) + _TWO
        if first < _LARGE
        else next(thirds)
        for first in firsts
    ], end


def read_array(body: Octets, start: int, length: int) -> tuple[NDArray[np.int32], int]:
    """Return what `read_numbers` does, as an array."""
    import numpy as np

    firsts = body[start : start + length]
    numbers = firsts.astype(np.int32)
    longer = np.flatnonzero(firsts >= _TWO)
    highs = firsts[longer]
    is_large = highs == _LARGE
    large = longer[is_large]
    seconds_at = start + length
    large_at = seconds_at + len(longer) - len(large)
    end = large_at + _LARGE_PLANES * len(large)
    if len(firsts) < length or end > len(body):
        raise ValueError(f"a posting list ends before {length} numbers of it")
    seconds = np.zeros(len(longer), np.uint8)
    seconds[~is_large] = body[seconds_at:large_at]
    numbers[longer] = ((highs.astype(np.int32) - _TWO) << 8) + seconds + _TWO
    planes = body[large_at:end].reshape(_LARGE_PLANES, -1).astype(np.int32)
    numbers[large] = planes[0] | planes[1] << 8 | planes[2] << 16
    return numbers, end


def read_arrays(
    blob: Octets, base: Integers, lengths: Integers, limits: Integers
) -> tuple[Integers, Integers]:
    """Return the numbers of many lists that begin at `base`, and where each list of them ends.

    Numbers that reach beyond the `limits` of their lists are a ValueError.
    """
    import numpy as np

    _demand(base + lengths <= limits)
    firsts = blob[places_of(base, lengths)]
    numbers = firsts.astype(np.int64)
    longer = np.flatnonzero(firsts >= _TWO)
    if not len(longer):
        return numbers, base + lengths
    owners = np.searchsorted(np.cumsum(lengths), longer, side="right")
    is_large = firsts[longer] == _LARGE
    seconds = np.bincount(owners[~is_large], minlength=len(lengths))
    large = np.bincount(owners[is_large], minlength=len(lengths))
    large_at = base + lengths + seconds
    ends = large_at + _LARGE_PLANES * large
    _demand(ends <= limits)
    two = longer[~is_large]
    numbers[two] = ((numbers[two] - _TWO) << 8) + blob[places_of(base + lengths, seconds)] + _TWO
    numbers[longer[is_large]] = gather(blob, large_at, large, np.full_like(large, _LARGE_PLANES))
    return numbers, ends


def pack_array(numbers: Integers) -> bytes:
    """Return the bytes of one list, which `read_array` reads."""
    import numpy as np

    coded = _coded(numbers)
    planes = [(coded.large >> 8 * plane).astype(np.uint8) for plane in range(_LARGE_PLANES)]
    return b"".join(part.tobytes() for part in (coded.firsts, coded.seconds, *planes))


class _Coded(NamedTuple):
    """Numbers in parts."""

    firsts: Octets
    seconds: Octets
    large: Integers
    longer: Integers  # the places of numbers that take more than a byte
    large_of_longer: Integers  # and of the large ones among them


def _coded(numbers: Integers) -> _Coded:
    import numpy as np

    firsts = numbers.astype(np.uint8)
    longer = np.flatnonzero(numbers >= _TWO)
    beyond = numbers[longer] - _TWO
    highs = np.minimum(_TWO + (beyond >> 8), _LARGE).astype(np.uint8)
    firsts[longer] = highs
    large = np.flatnonzero(highs == _LARGE)
    seconds = beyond.astype(np.uint8)
    if len(large):
        seconds = np.delete(seconds, large)
    return _Coded(firsts, seconds, beyond[large] + _TWO, longer, large)


class NumbersWriter:
    """The numbers of many lists, to be put in their places.

    Those of a list begin at its start; what lies between two lists is left out and must be small.
    """

    def __init__(self, numbers: Integers, lengths: Integers, starts: Integers) -> None:
        import numpy as np

        self._lengths, self._starts = lengths, starts
        self._firsts, self._seconds, self._large, longer, large = _coded(numbers)
        bounds = np.searchsorted(longer, np.append(starts, len(numbers)))
        self._large_counts = np.diff(np.searchsorted(large, bounds))
        self._second_counts = np.diff(bounds) - self._large_counts
        self.sizes: Integers = lengths + self._second_counts + _LARGE_PLANES * self._large_counts

    def write(self, blob: Octets, base: Integers) -> None:
        """Put the numbers of each list behind its base."""
        import numpy as np

        put(blob, base, self._firsts, self._starts, self._lengths)
        behind = base + self._lengths
        if len(self._seconds):
            put(blob, behind, self._seconds, starts_of(self._second_counts), self._second_counts)
        if len(self._large):
            having = np.flatnonzero(self._large_counts)
            at, counts = (behind + self._second_counts)[having], self._large_counts[having]
            scatter(blob, at, self._large, counts, np.full_like(at, _LARGE_PLANES))


def _demand(sound: NDArray[np.bool_]) -> None:
    if not sound.all():
        raise ValueError("a posting list ends before its numbers do")
