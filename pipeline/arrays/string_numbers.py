"""Numbers the pieces of a text, those of a whole batch at once with numpy.

A piece of up to 16 bytes, as 98 of 100 are, is its own key in a table (key_numbers.py). One of up to 32
bytes has for its key the numbers of its two halves, each of which is a key of another table; that of a longer
piece is its number in a dictionary.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import KEY_BYTES, first_bytes, whole_strings
from crawlctl.pipeline.arrays.key_numbers import KeyTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings, Keys

    Words = NDArray[np.uint64]
    Places = NDArray[np.int64]
    Numbers = NDArray[np.int32]

_LONG_PIECE_BYTES = 160  # a bytes object, a number, and their place in a dictionary
# The second half of the keys of longer pieces; no text has such bytes.
_OF_LONG = np.uint64((1 << 64) - 1)
_OF_TWO = np.uint64((1 << 64) - 2)


class PieceTable:
    """The pieces met so far, each with a number from 0 on."""

    def __init__(self) -> None:
        self._table = KeyTable()
        self._halves = KeyTable()  # of pieces of up to 32 bytes
        self._long: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._long_bytes = 0

    def __len__(self) -> int:
        return len(self._table)

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        return self._table.memory + self._halves.memory + self._long_bytes

    def numbers(self, pieces: ByteStrings) -> tuple[Numbers, Places]:
        """Return the numbers of pieces, and the places of new ones in the order of theirs.

        Behind the last piece there must be 16 bytes.
        """
        keys = whole_strings(pieces)
        numbers, others = self._table.at_home(keys)
        keys = keys.take(others)
        self._set_long(keys, pieces.take(others))
        numbers[others], new = self._table.numbers(keys)
        return numbers, others[new]

    def _set_long(self, keys: Keys, pieces: ByteStrings) -> None:
        """Set the keys of pieces that are longer than a key."""
        words = keys.view(np.uint64).reshape(-1, 2)
        two = np.flatnonzero((pieces.lengths > KEY_BYTES) & (pieces.lengths <= 2 * KEY_BYTES))
        if len(two):
            words[two, 0] = self._numbers_of_halves(pieces.take(two))
            words[two, 1] = _OF_TWO
        long = np.flatnonzero(pieces.lengths > 2 * KEY_BYTES)
        if len(long):
            words[long, 0] = self._numbers_of_long(pieces.take(long))
            words[long, 1] = _OF_LONG

    def _numbers_of_halves(self, pieces: ByteStrings) -> Words:
        """Return the numbers of the halves of pieces, those of the second ones in the lower bits."""
        octets, starts, lengths = pieces.octets, pieces.starts, pieces.lengths
        halves = (
            first_bytes(octets, starts, lengths),
            first_bytes(octets, starts + KEY_BYTES, lengths - KEY_BYTES),
        )
        numbers, _ = self._halves.numbers(np.concatenate(halves))
        first, second = numbers.astype(np.uint64).reshape(2, -1)
        pairs: Words = first << np.uint64(32) | second
        return pairs

    def _numbers_of_long(self, pieces: ByteStrings) -> list[int]:
        known, held = self._long, len(self._long)
        numbers = [known[piece] for piece in pieces]
        if len(known) > held:
            new = np.array(numbers) >= held
            self._long_bytes += _LONG_PIECE_BYTES * (len(known) - held) + int(pieces.lengths[new].sum())
        return numbers
