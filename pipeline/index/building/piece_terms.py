"""The terms of the pieces of a text, each piece looked at once; see index/building/vocabulary.py."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import KEY_BYTES, cut_at, first_bytes
from crawlctl.pipeline.arrays.ragged import places_of, starts_of
from crawlctl.pipeline.arrays.string_numbers import PieceTable
from crawlctl.pipeline.index.building.vocabulary import BREAK, BREAK_NUMBER, FIELD_END, FIELD_END_NUMBER
from crawlctl.pipeline.text.words.token_arrays import chunks_of, words_of_chunks
from crawlctl.pipeline.text.words.tokens import MAX_CHARACTERS, tokens_of_chunk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.building.term_table import TermTable
    from crawlctl.pipeline.index.building.vocabulary import Numbers

    Places = NDArray[np.intp]

_MARKS = {FIELD_END: FIELD_END_NUMBER, BREAK: BREAK_NUMBER}
_SPACE = 32
_UNDERSCORE = 95
_NOT_ASCII = np.uint64(0x8080808080808080)


class PieceTerms:
    """The term of each piece met in a language; of a piece with no word or several, a negative number."""

    def __init__(self, terms: TermTable, language: str) -> None:
        self._terms = terms
        self._language = language
        self._pieces = PieceTable()
        self._numbers: Numbers = np.zeros(0, np.int32)  # by number of the piece
        # The words of pieces that are not a word as they stand; those of Chinese recur in many pieces.
        self._words = PieceTable()
        self._word_numbers: Numbers = np.zeros(0, np.int32)
        # Of the pieces with another number of words than one, their terms end to end, and where each begins.
        self._several: Numbers = np.zeros(0, np.int32)
        self._bounds: Places = np.zeros(1, np.intp)

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        arrays = (self._numbers, self._word_numbers, self._several, self._bounds)
        return self._pieces.memory + self._words.memory + sum(array.nbytes for array in arrays)

    def numbers(self, data: bytes) -> Numbers:
        """Return the numbers of the terms of a text in UTF-8."""
        pieces = chunks_of(data)
        numbers, new = self._pieces.numbers(pieces)
        if len(new):
            self._numbers = np.concatenate((self._numbers, self._learnt(pieces.take(new))))
        return self._expanded(self._numbers.take(numbers, mode="wrap"))

    def _learnt(self, pieces: ByteStrings) -> Numbers:
        """Return the terms of new pieces."""
        plain = _are_plain(pieces)
        words = pieces.take(plain).joined(_SPACE)
        if plain.all():
            return self._terms.numbers(words.split(), self._language)
        numbers, counts, new = self._words_of(pieces.take(~plain))
        terms = self._terms.numbers((words + new).split(), self._language)
        learnt = np.empty(len(pieces), np.int32)
        learnt[plain], new_terms = np.split(terms, [int(plain.sum())])
        self._word_numbers = np.concatenate((self._word_numbers, new_terms))
        learnt[~plain] = self._coded(self._word_numbers[numbers], counts)
        for mark, number in _MARKS.items():
            marks = (pieces.lengths == 1) & (pieces.octets[pieces.starts] == mark[0])
            learnt[marks] = number
        return learnt

    def _words_of(self, pieces: ByteStrings) -> tuple[Numbers, Places, bytes]:
        """Return the numbers of all words of pieces, how many words each has, and the new words."""
        joined, counts, refused = words_of_chunks(pieces.joined(_SPACE))
        if refused.any():
            found = [tokens_of_chunk(piece) for piece in pieces.take(refused)]
            counts[refused] = list(map(len, found))
            joined += " ".join((*chain.from_iterable(found), "")).encode()
        words = cut_at(_SPACE, np.frombuffer(joined + bytes(KEY_BYTES), np.uint8))
        numbers, new = self._words.numbers(words)
        if refused.any():
            order = np.argsort(np.repeat(refused, counts), kind="stable")  # those of the refused came last
            numbers[order] = numbers.copy()
        return numbers, counts, words.take(new).joined(_SPACE)

    def _coded(self, words: Numbers, counts: Places) -> Numbers:
        """Return the numbers of pieces with any number of words, whose terms are given."""
        single = counts == 1
        inside = np.repeat(single, counts)
        numbers = np.empty(len(counts), np.int32)
        numbers[single] = words[inside]
        numbers[~single] = -len(self._bounds) - np.arange(len(counts) - int(single.sum()))
        self._several = np.append(self._several, words[~inside])
        self._bounds = np.append(self._bounds, self._bounds[-1] + np.cumsum(counts[~single]))
        return numbers

    def _expanded(self, coded: Numbers) -> Numbers:
        """Return the numbers with those of several words in place of each negative one."""
        places = np.flatnonzero(coded < 0)
        if not len(places):
            return coded
        which = -1 - coded[places]
        starts = self._bounds[which]
        counts = self._bounds[which + 1] - starts
        numbers = np.empty(len(coded) + int((counts - 1).sum()), np.int32)
        shifts = starts_of(counts - 1)  # by what the pieces before have more words than one
        of_several = np.zeros(len(numbers), np.bool_)
        of_several[places_of(places + shifts, counts)] = True
        numbers[of_several] = self._several[places_of(starts, counts)]
        numbers[~of_several] = coded[coded >= 0]
        return numbers


def _are_plain(pieces: ByteStrings) -> NDArray[np.bool_]:
    """Tell which pieces are one word as they stand, being in ASCII."""
    octets, starts, lengths = pieces.octets, pieces.starts, pieces.lengths
    plain: NDArray[np.bool_] = lengths <= MAX_CHARACTERS
    for edge in (starts, starts + lengths - 1):
        plain &= octets[edge] != _UNDERSCORE
    halves = first_bytes(octets, starts, lengths).view(np.uint64).reshape(-1, 2)
    plain &= ((halves[:, 0] | halves[:, 1]) & _NOT_ASCII) == 0
    doubtful = np.flatnonzero(plain & (lengths > KEY_BYTES))
    plain[doubtful] = [piece.isascii() for piece in pieces.take(doubtful)]
    return plain
