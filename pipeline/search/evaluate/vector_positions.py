"""Positions of words as arrays that can be compared, for phrases.

Nearly all words stand in bodies. The words of all bodies are numbered consecutively, document after document,
so that for a frequent word a table with one bit per number says where it stands. A position in another field
is a number too (a key), with the document in its high bits. Keys lie too far apart for such a table.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.index.fields import OFFSET_BITS, POSITION_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.search.evaluate.index_reader import IndexReader

    Keys = NDArray[np.signedinteger]  # numbers of 64 bits, or of 32 bits if all numbers fit
    Documents = NDArray[np.int32]
    Mask = NDArray[np.bool_]
    Indices = NDArray[np.int32]

POSITION_MASK = (1 << POSITION_BITS) - 1

_BODY_END = 1 << OFFSET_BITS  # the body is the first field
_MARGIN = 1 << 13  # how many words a phrase may reach beyond the first or last body
_BITS_SHARE = 64  # a word that is more than 1/64 of the words of all bodies gets a table of bits
_SHORT_END = (
    1 << 30
)  # numbers below it, and twice as many, fit into 32 bits, which are compared twice as fast
_SEARCHED_SHARE = 16  # an array more than 16 times as long as the other is searched by bisection
_ZERO = np.zeros(1, np.int32)
_BITS = (1 << np.arange(8)).astype(np.uint8)


class PositionSet:
    """The positions of a word in all bodies (rising numbers) or in all other fields (rising keys).

    `documents` has the document of each position. Only the bounds of each document are kept, because a word
    has many positions per document. `size` is the highest number of a word in all bodies plus 1; 0 says that
    the positions are keys. `all_documents` is the number of documents of the index; 0 says that it is
    unknown.
    """

    def __init__(self, keys: Keys, documents: Documents, size: int = 0, all_documents: int = 0) -> None:
        self.keys = keys
        self._size = size
        # Where the positions of each owner begin, and at the end their number. The owners are the documents
        # with the word; of a frequent word all documents, which need not be searched for.
        self._owners: Documents | None = None
        if len(keys) >= all_documents > 0:
            counts = np.bincount(documents, minlength=all_documents)
            self._starts = np.concatenate((_ZERO, counts.cumsum(dtype=np.int32)))
        else:
            firsts = np.flatnonzero(documents[1:] != documents[:-1]) + 1
            bounds = (_ZERO[: len(keys)], firsts, np.array([len(keys)]))
            self._starts = np.concatenate(bounds).astype(np.int32)
            self._owners = documents[self._starts[:-1]]

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the set takes, including the table that it may make later."""
        bits = self._size // 8 if self.has_bits else 0
        owners = 0 if self._owners is None else self._owners.nbytes
        return self.keys.nbytes + self._starts.nbytes + owners + bits

    @property
    def documents(self) -> Documents:
        """The document of each position."""
        counts = np.diff(self._starts)
        owners = np.arange(len(counts), dtype=np.int32) if self._owners is None else self._owners
        return owners.repeat(counts)

    def bounds_of(self, documents: Documents) -> tuple[Indices, Indices]:
        """Return where the positions of each of some documents begin, and where they end."""
        if self._owners is None:
            return self._starts[documents], self._starts[documents + 1]
        bounds = self._starts[self._owners.searchsorted(np.concatenate((documents, documents + 1)))]
        return bounds[: len(documents)], bounds[len(documents) :]

    def contains(self, keys: Keys) -> Mask:
        """Return which of some rising keys are in the set."""
        if not len(self.keys):
            return np.zeros(len(keys), np.bool_)
        found: Mask
        if self.has_bits:
            found = (self._bits[keys >> 3] & _BITS[keys & 7]) != 0
        elif len(keys) * _SEARCHED_SHARE < len(self.keys):
            indices = self.keys.searchsorted(keys)
            indices[indices == len(self.keys)] = 0
            found = self.keys[indices] == keys
        else:
            found = _merged(keys, self.keys)
        return found

    @property
    def has_bits(self) -> bool:
        """Whether `contains` looks into a table, which takes no longer for a frequent word."""
        return len(self.keys) * _BITS_SHARE > self._size > 0

    @cached_property
    def _bits(self) -> NDArray[np.uint8]:
        flags = np.zeros(self._size + 2 * _MARGIN, np.bool_)  # a negative index reads the margin at the end
        flags[self.keys] = True
        return np.packbits(flags, bitorder="little")


def _merged(some: Keys, others: Keys) -> Mask:
    """Return which keys are also in `others`; a stable sort of two rising arrays works as a merge."""
    both = np.concatenate((some << 1, (others << 1) + 1))
    both.sort(kind="stable")
    are_some = (both & 1) == 0
    followed = np.zeros(len(both), np.bool_)
    np.equal(both[1:], both[:-1] + 1, out=followed[:-1])
    found: Mask = followed[are_some]
    return found


class VectorPositions:
    """The positions of a word: in bodies, and in all other fields."""

    def __init__(self, bodies: PositionSet, others: PositionSet) -> None:
        self.bodies = bodies
        self.others = others
        self.nbytes = bodies.nbytes + others.nbytes


class BodyNumbers:
    """The numbering of the words of all bodies, with a gap of one between any two documents."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader

    @cached_property
    def starts(self) -> Keys:
        """The number of the first word of each document, and at the end the first number not used."""
        numbers = range(len(self._reader.segments))
        columns = self._reader.parallel.map(lambda number: self._reader.columns(number).raw("body"), numbers)
        lengths = [np.frombuffer(column, "<u4") for column in columns]
        starts = np.zeros(self._reader.size + 1, np.int64)
        if lengths:
            np.cumsum(np.concatenate(lengths).astype(np.int64) + 1, out=starts[1:])
        return starts

    def split(self, keys: Keys) -> VectorPositions:
        """Return the positions of a word from its keys, each a document and below it a position."""
        documents = (keys >> POSITION_BITS).astype(np.int32)
        positions = keys & POSITION_MASK
        in_body = positions < _BODY_END
        owners = documents[in_body]
        numbers = self.starts[owners] + positions[in_body]
        if (numbers >= self.starts[owners + 1] - 1).any():  # the number in the gap is no word either
            raise ValueError("a posting list has positions behind the end of a document")
        size = int(self.starts[-1])
        if size + _MARGIN < _SHORT_END:
            numbers = numbers.astype(np.int32)
        others = ~in_body
        return VectorPositions(
            PositionSet(numbers, owners, size, self._reader.size),
            PositionSet(keys[others], documents[others], all_documents=self._reader.size),
        )
