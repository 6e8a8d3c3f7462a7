"""The numpy part of a sketch: hashes of word triples, their parity bits, and the keys made of min-hashes.

A page is short, so what counts is how many calls of numpy it takes: numbers are arrays made once, since a
number of Python or numpy would be turned into an array in each call, and steps write into their operands.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from crawlctl.pipeline.text.likeness.sketch_sizes import KEYS, PARITY_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

_HASHES_PER_KEY = 6
_BINS = KEYS * _HASHES_PER_KEY
_THROWN = 9 * _BINS  # how many hashes are thrown; enough that only one text in a hundred leaves a bin empty


def _number(value: int) -> Hashes:
    return np.array(value, np.uint64)


_EMPTY = _number(2**64 - 1)
_HALF = _number(32)  # bits
_TO_PARITY = _number(64 - (PARITY_BITS - 1).bit_length())  # what remains is the number of a parity bit
_STEP = _number(0x9E3779B97F4A7C15)  # between the seeds of two throws
_BINS_IN_ALL = _number(_BINS)
_EACH_BIN = np.arange(_BINS)
# The finaliser of SplitMix64.
_SHIFTS = _number(30), _number(27), _number(31)
_FACTORS = _number(0xBF58476D1CE4E5B9), _number(0x94D049BB133111EB)


def hashed_triples(words: Sequence[bytes]) -> Hashes:
    """Return the distinct hashes of three consecutive words; a text of one or two words is padded."""
    hashes = np.fromiter(map(crc32, words), np.uint64, len(words))
    if len(hashes) < 3:
        hashes = np.append(hashes, np.zeros(3 - len(hashes), np.uint64))
    found = _mix(hashes[:-2].copy())
    for following in (hashes[1:-1], hashes[2:]):
        found += following
        _mix(found)
    found.sort()
    is_new = np.ones(len(found), np.bool_)  # np.unique is seven times slower
    np.not_equal(found[1:], found[:-1], out=is_new[1:])
    distinct: Hashes = found[is_new]
    return distinct


def parity_of(triples: Hashes) -> bytes:
    """Return the odd sketch of triples: each of them has flipped one bit."""
    flips = np.bincount((triples >> _TO_PARITY).view(np.int64), minlength=PARITY_BITS).astype(np.uint8)
    flips &= 1
    return np.packbits(flips).tobytes()


def keys_of(triples: Hashes) -> list[int]:
    """Return the keys, made of min-hashes drawn by Fast Similarity Sketching (Dahlgaard et al. 2017).

    Each triple is thrown into one of 48 bins, and the smallest hash in a bin counts. While a bin is empty,
    all triples are thrown once more, and count only in the bins that were empty before.
    """
    throws = math.ceil(_THROWN / len(triples))
    smallest = _drawn(triples, 0, throws)
    done = throws
    while (is_empty := smallest == _EMPTY).any():
        smallest = np.where(is_empty, _drawn(triples, done, throws), smallest)
        done += throws
    combined = np.zeros(KEYS, np.uint64)
    for column in smallest.reshape(KEYS, _HASHES_PER_KEY).T:
        combined += column
        _mix(combined)
    combined >>= _HALF
    keys: list[int] = combined.tolist()
    return keys


def _drawn(triples: Hashes, first: int, throws: int) -> Hashes:
    """Return the smallest hash in each bin, from the first of some throws that has one there, else _EMPTY."""
    rows = np.arange(throws, dtype=np.uint64)[:, np.newaxis]
    thrown = _mix(triples + (rows + _number(first)) * _STEP)
    cells = thrown >> _HALF
    cells *= _BINS_IN_ALL
    cells >>= _HALF
    cells += rows * _BINS_IN_ALL
    lowest = np.full(throws * _BINS, _EMPTY)
    # numpy does this fast in one dimension only
    np.minimum.at(lowest, cells.ravel().view(np.int64), thrown.ravel())
    table = lowest.reshape(throws, _BINS)
    drawn: Hashes = table[(table != _EMPTY).argmax(axis=0), _EACH_BIN]
    return drawn


def _mix(values: Hashes) -> Hashes:
    """Mix the values in place, and return them."""
    first, second, third = _SHIFTS
    factor, other = _FACTORS
    shifted = values >> first
    values ^= shifted
    values *= factor
    np.right_shift(values, second, out=shifted)
    values ^= shifted
    values *= other
    np.right_shift(values, third, out=shifted)
    values ^= shifted
    return values
