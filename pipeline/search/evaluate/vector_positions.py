"""Where words stand, as arrays that can be compared.

Nearly all words stand in bodies. Those are numbered through the whole index, document after document, so that
for a frequent word a table with a bit for each number tells at once where it stands. What stands in other
fields is told by one number as well, the document in its high bits, of which no table could be made.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.index.fields import OFFSET_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.search.open.searcher import Searcher

    Keys = NDArray[np.int64]
    Documents = NDArray[np.int32]
    Mask = NDArray[np.bool_]

POSITION_BITS = 23
POSITION = (1 << POSITION_BITS) - 1

_BODY_END = 1 << OFFSET_BITS  # the body is the first field
_MARGIN = 1 << 13  # words by which a phrase may reach beyond either end of all bodies
_BITS_SHARE = 128  # a word that is one of so many in all bodies gets a table of bits
_SEARCHED_SHARE = 16  # an array so many times longer than another is searched for the keys of that one
_BITS = (1 << np.arange(8)).astype(np.uint8)


class Spots:
    """Where a word stands, rising numbers or keys, and in which documents."""

    def __init__(self, keys: Keys, documents: Documents, size: int = 0) -> None:
        self.keys = keys
        self.documents = documents
        self._size = size  # one above the highest number, 0 for keys

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """The bytes that it holds or will hold."""
        return self.keys.nbytes + self.documents.nbytes + (self._size // 8 if self._has_bits else 0)

    def have(self, keys: Keys) -> Mask:
        """Return which of some rising keys are among these."""
        if not len(self.keys):
            return np.zeros(len(keys), np.bool_)
        found: Mask
        if self._has_bits:
            found = (self._bits[keys >> 3] & _BITS[keys & 7]) != 0
        elif len(keys) * _SEARCHED_SHARE < len(self.keys):
            places = self.keys.searchsorted(keys)
            places[places == len(self.keys)] = 0
            found = self.keys[places] == keys
        else:
            found = _merged(keys, self.keys)
        return found

    @property
    def _has_bits(self) -> bool:
        return len(self.keys) * _BITS_SHARE > self._size > 0

    @cached_property
    def _bits(self) -> NDArray[np.uint8]:
        flags = np.zeros(self._size + 2 * _MARGIN, np.bool_)  # a negative number looks into the margin
        flags[self.keys] = True
        return np.packbits(flags, bitorder="little")


def _merged(some: Keys, others: Keys) -> Mask:
    """Return which of some keys are among others: sorting two rising arrays end to end is merging them."""
    both = np.concatenate((some << 1, (others << 1) + 1))
    both.sort(kind="stable")
    are_some = (both & 1) == 0
    followed = np.zeros(len(both), np.bool_)
    np.equal(both[1:], both[:-1] + 1, out=followed[:-1])
    found: Mask = followed[are_some]
    return found


class Positions:
    """Where a word stands in bodies and in all other fields."""

    def __init__(self, bodies: Spots, others: Spots) -> None:
        self.bodies = bodies
        self.others = others
        self.nbytes = bodies.nbytes + others.nbytes


class Bodies:
    """The words of all bodies, numbered through, with a gap between any two documents."""

    def __init__(self, index: Searcher) -> None:
        self._index = index

    @cached_property
    def starts(self) -> Keys:
        """The number of the first word of each document, and one behind the last."""
        lengths = [
            np.frombuffer(self._index.columns(segment).raw("body"), "<u4")
            for segment in range(len(self._index.segments))
        ]
        starts = np.zeros(self._index.size + 1, np.int64)
        if lengths:
            np.cumsum(np.concatenate(lengths).astype(np.int64) + 1, out=starts[1:])
        return starts

    def split(self, keys: Keys) -> Positions:
        """Return the positions of a word from its keys: document and position in one number."""
        documents = (keys >> POSITION_BITS).astype(np.int32)
        offsets = keys & POSITION
        in_body = offsets < _BODY_END
        owners = documents[in_body]
        numbers = self.starts[owners] + offsets[in_body]
        if (numbers >= self.starts[owners + 1]).any():
            raise ValueError("a posting list has positions behind the end of a document")
        others = ~in_body
        return Positions(Spots(numbers, owners, int(self.starts[-1])), Spots(keys[others], documents[others]))
