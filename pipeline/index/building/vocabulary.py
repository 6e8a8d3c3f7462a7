"""From the text of documents to numbers of terms.

A term is the stem of a word in the language of its document, cut at 64 characters, in UTF-8. Texts are cut
into pieces at ASCII separators (token_arrays.py), these are numbered (string_numbers.py), and only a piece
not met before is looked at for its words (index/building/piece_terms.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.building.piece_terms import PieceTerms

    Numbers = NDArray[np.int32]

MAX_TERMS = 1 << 24

# These bytes are never part of UTF-8; their numbers are those of no term.
FIELD_END = b"\xff"
BREAK = b"\xfe"
FIELD_END_NUMBER = 0
BREAK_NUMBER = 1
FIRST_TERM = 2

_MAX_PIECES_BYTES = 24 << 20


class Vocabulary:
    """The terms of a run, numbered as they come."""

    def __init__(self) -> None:
        from crawlctl.pipeline.index.building.term_table import TermTable

        self._terms = TermTable()
        self._pieces: dict[str, PieceTerms] = {}

    def __len__(self) -> int:
        return len(self._terms)

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        return self._terms.memory + self._pieces_memory()

    def numbers(self, data: bytes, language: str) -> Numbers:
        """Return the terms of a text in UTF-8, one number a word, and those of the marks between fields."""
        from crawlctl.pipeline.index.building.piece_terms import PieceTerms

        if self._pieces_memory() > _MAX_PIECES_BYTES:
            self._pieces.clear()
        if language not in self._pieces:
            self._pieces[language] = PieceTerms(self._terms, language)
        return self._pieces[language].numbers(data)

    def sorted_terms(self) -> tuple[ByteStrings, Numbers]:
        """Return the terms in byte order, and for each number the place of its term there."""
        return self._terms.in_order()

    def _pieces_memory(self) -> int:
        return sum(pieces.memory for pieces in self._pieces.values())
