"""The distinct terms of a run, by number; see index/building/vocabulary.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import KEY_BYTES, byte_order, cut_at
from crawlctl.pipeline.arrays.string_numbers import PieceTable
from crawlctl.pipeline.index.building.vocabulary import FIRST_TERM, MAX_TERMS
from crawlctl.pipeline.text.words.stems import stems
from crawlctl.pipeline.text.words.tokens import MAX_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.building.vocabulary import Numbers

_SPACE = 32
_PADDING = bytes(KEY_BYTES)


class TermTable:
    """Terms, numbered as they come from FIRST_TERM on."""

    def __init__(self) -> None:
        self._table = PieceTable()
        self._joined: list[bytes] = []  # all terms by number, a space behind each
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._table)

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        return self._table.memory + self._bytes

    def numbers(self, words: Sequence[bytes], language: str) -> Numbers:
        """Return the terms of words in UTF-8."""
        found = _cut(stems(words, language))
        if found.lengths.max(initial=0) > MAX_CHARACTERS:
            found = _cut([stem.decode()[:MAX_CHARACTERS].encode() for stem in found])
        numbers, new = self._table.numbers(found)
        if len(self) + FIRST_TERM > MAX_TERMS:
            raise ValueError(f"more than {MAX_TERMS} different terms; write the run before it is full")
        if len(new):
            self._joined.append(found.take(new).joined(_SPACE))
            self._bytes += len(self._joined[-1])
        numbers += FIRST_TERM
        return numbers

    def in_order(self) -> tuple[ByteStrings, Numbers]:
        """Return the terms in byte order, and for each number the place of its term there."""
        terms = cut_at(_SPACE, np.frombuffer(b"".join(self._joined), np.uint8))
        order = byte_order(terms)
        places = np.zeros(FIRST_TERM + len(terms), np.int32)
        places[FIRST_TERM + order] = np.arange(len(terms))
        return terms.take(order), places


def _cut(words: list[bytes]) -> ByteStrings:
    """Return the words as strings with 16 bytes behind them; faster than `strings_of`."""
    return cut_at(_SPACE, np.frombuffer(b" ".join((*words, _PADDING)), np.uint8))
