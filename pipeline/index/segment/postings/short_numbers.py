"""The integer code of posting lists: numbers below 2²⁴, most of them in one byte.

    firsts    1 byte per number: a number below 224 itself; 224 to 254 are the high bits of a number of two
              bytes; 255 stands for a large number
    seconds   1 byte per number of two bytes: its low bits. Such numbers begin at 224 and end below 8160
    large     the large numbers in three byte planes: the low bytes of all of them, then the middle bytes,
              then the high bytes

This module reads the code in plain Python. In a list without large gaps, the firsts are the numbers
themselves. A plane is turned into numbers without a loop. Deflate packs a plane better than mixed bytes.
number_arrays.py reads and writes the same bytes with numpy, thousands of lists at a time. On the positions of
3,000 web pages this code took a fifth less room than one byte per number with patches for larger numbers, and
a twelfth less when both were deflated.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_NUMBER = (1 << 24) - 1  # the greatest ordinal or position: three planes
MAX_BYTES = 4  # the most bytes of one number

FIRST_OF_TWO = 224  # the lowest number of two bytes, and the first byte that says so
LARGE = 255  # the first byte of a large number
LARGE_PLANES = 3

_SINGLE = bytes(range(FIRST_OF_TWO))
_LONGER = re.compile(rb"[\xe0-\xff]")  # the first bytes from FIRST_OF_TWO on
_TWO_BYTES_BASE = (FIRST_OF_TWO << 8) - FIRST_OF_TWO


def read_numbers(body: bytes, start: int, length: int) -> tuple[Sequence[int], int]:
    """Return the `length` numbers that begin at `start`, and their end.

    Raise ValueError if they are cut off.
    """
    firsts = body[start : start + length]
    longer = firsts.translate(None, _SINGLE)
    large = longer.count(LARGE)
    large_at = start + length + len(longer) - large
    end = large_at + LARGE_PLANES * large
    if len(firsts) < length or end > len(body):
        raise ValueError(f"a posting list ends before {length} numbers of it")
    if not longer:
        return firsts, end
    seconds = iter(body[start + length : large_at])
    thirds = iter(_read_planes(body, large_at, large))
    return _with_longer(firsts, seconds, thirds), end


class NumberRanges:
    """Reads ranges of numbers out of many, from left to right; the numbers in between cost very little."""

    def __init__(self, body: bytes, start: int, length: int) -> None:
        """Read some of the `length` numbers that begin at `start`; raise ValueError if they are cut off."""
        self._firsts = body[start : start + length]
        longer = self._firsts.translate(None, _SINGLE)
        large = longer.count(LARGE)
        large_at = start + length + len(longer) - large
        self.end = large_at + LARGE_PLANES * large
        if len(self._firsts) < length or self.end > len(body):
            raise ValueError(f"a posting list ends before {length} numbers of it")
        self._seconds = body[start + length : large_at]
        self._thirds = _read_planes(body, large_at, large)
        self._index = self._second = self._third = 0  # how many of each were passed

    def read(self, start: int, end: int) -> Sequence[int]:
        """Return the numbers with these indices; `start` must not be below the `end` of the call before."""
        self._pass(self._firsts[self._index : start].translate(None, _SINGLE))
        firsts = self._firsts[start:end]
        self._index = end
        longer = firsts.translate(None, _SINGLE)
        if not longer:
            return firsts
        second, third = self._second, self._third
        self._pass(longer)
        seconds, thirds = self._seconds[second : self._second], self._thirds[third : self._third]
        return _with_longer(firsts, iter(seconds), iter(thirds))

    def _pass(self, longer: bytes) -> None:
        large = longer.count(LARGE)
        self._second += len(longer) - large
        self._third += large


def _with_longer(firsts: bytes, seconds: Iterator[int], thirds: Iterator[int]) -> list[int]:
    """Return the numbers with these first bytes.

    Python code runs only for numbers of several bytes, about 1 of 20 positions.
    """
    numbers = list(firsts)
    for match in _LONGER.finditer(firsts):
        index = match.start()
        first = firsts[index]
        numbers[index] = next(thirds) if first == LARGE else (first << 8) + next(seconds) - _TWO_BYTES_BASE
    return numbers


def has_zero(body: bytes, start: int, length: int) -> bool:
    """Return whether one of the numbers that `read_numbers` returns is 0, faster than to search these."""
    firsts = body[start : start + length]
    if 0 in firsts:
        return True
    longer = firsts.translate(None, _SINGLE)
    large = longer.count(LARGE)
    return large > 0 and 0 in _read_planes(body, start + length + len(longer) - large, large)


def _read_planes(body: bytes, start: int, length: int) -> Sequence[int]:
    """Return the large numbers whose planes begin at `start`; the caller has checked that all are there."""
    woven = bytearray(4 * length)
    for plane in range(LARGE_PLANES):
        at = plane if sys.byteorder == "little" else 3 - plane
        woven[at::4] = body[start + plane * length : start + (plane + 1) * length]
    return memoryview(woven).cast("I")
