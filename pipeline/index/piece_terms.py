"""The terms of the pieces of a text, each piece looked at once; see index/terms.py."""

from __future__ import annotations

from itertools import chain, compress
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.formats.bytestrings import cut_at
from crawlctl.pipeline.formats.stretches import places_of, starts_of
from crawlctl.pipeline.index.pieces import PieceTable
from crawlctl.pipeline.index.terms import BREAK, BREAK_NUMBER, FIELD_END, FIELD_END_NUMBER
from crawlctl.pipeline.text.token_arrays import words_of_pieces
from crawlctl.pipeline.text.tokens import MAX_CHARACTERS, tokens_of_piece

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.formats.bytestrings import ByteStrings
    from crawlctl.pipeline.index.term_table import TermTable
    from crawlctl.pipeline.index.terms import Numbers

    Places = NDArray[np.intp]

_MARKS = {FIELD_END: FIELD_END_NUMBER, BREAK: BREAK_NUMBER}
_SPACE = 32
_UNDERSCORE = 95


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
        """Return the numbers of the terms of a text in pieces."""
        pieces, new = self._pieces.numbers(data)
        if new:
            self._numbers = np.concatenate((self._numbers, self._learnt(new)))
        return self._expanded(self._numbers[pieces])

    def _learnt(self, joined: bytes) -> Numbers:
        """Return the terms of new pieces, which have a space behind each."""
        pieces = cut_at(_SPACE, np.frombuffer(joined, np.uint8))
        plain = _are_plain(pieces)
        learnt = np.empty(len(pieces), np.int32)
        learnt[plain] = self._terms.numbers(
            list(compress(joined.split(b" "), plain.tolist())), self._language
        )
        if not plain.all():
            others = pieces.take(~plain)
            learnt[~plain] = self._numbers_of_others(others)
            for mark, number in _MARKS.items():
                marks = (pieces.lengths == 1) & (pieces.octets[pieces.starts] == mark[0])
                learnt[marks] = number
        return learnt

    def _numbers_of_others(self, pieces: ByteStrings) -> Numbers:
        """Return the terms of pieces with any number of words."""
        words, counts = self._words_of(pieces)
        single = counts == 1
        inside = np.repeat(single, counts)
        numbers = np.empty(len(pieces), np.int32)
        numbers[single] = words[inside]
        numbers[~single] = -len(self._bounds) - np.arange(len(pieces) - int(single.sum()))
        self._several = np.append(self._several, words[~inside])
        self._bounds = np.append(self._bounds, self._bounds[-1] + np.cumsum(counts[~single]))
        return numbers

    def _words_of(self, pieces: ByteStrings) -> tuple[Numbers, Places]:
        """Return the terms of all words of pieces, and how many words each has."""
        octets = pieces.octets[places_of(pieces.starts, pieces.lengths + 1)]
        joined, counts, refused = words_of_pieces(octets.tobytes())
        numbers = self._numbers_of_words(joined)
        if not refused.any():
            return numbers, counts
        found = [tokens_of_piece(piece) for piece in pieces.take(refused).tolist()]
        counts[refused] = list(map(len, found))
        of_refused = np.repeat(refused, counts)
        together = np.empty(len(of_refused), np.int32)
        together[~of_refused] = numbers
        together[of_refused] = self._numbers_of_words(" ".join(chain.from_iterable(found)).encode())
        return together, counts

    def _numbers_of_words(self, joined: bytes) -> Numbers:
        words, new = self._words.numbers(joined)
        if new:
            learnt = self._terms.numbers(new.split(), self._language)
            self._word_numbers = np.concatenate((self._word_numbers, learnt))
        numbers: Numbers = self._word_numbers[words]
        return numbers

    def _expanded(self, coded: Numbers) -> Numbers:
        """Return the numbers with those of several words in place of each negative one."""
        places = np.flatnonzero(coded < 0)
        if not len(places):
            return coded
        which = -1 - coded[places]
        starts = self._bounds[which]
        counts = self._bounds[which + 1] - starts
        repeats = np.ones(len(coded), np.int32)
        repeats[places] = counts
        numbers: Numbers = np.repeat(coded, repeats)
        shifts = starts_of(counts - 1)  # by what the pieces before have more words than one
        numbers[places_of(places + shifts, counts)] = self._several[places_of(starts, counts)]
        return numbers


def _are_plain(pieces: ByteStrings) -> NDArray[np.bool_]:
    """Tell which pieces are one word as they stand, being in ASCII."""
    octets, starts, lengths = pieces.octets, pieces.starts, pieces.lengths
    ends = starts + lengths
    plain: NDArray[np.bool_] = (octets[starts] != _UNDERSCORE) & (octets[ends - 1] != _UNDERSCORE)
    plain &= lengths <= MAX_CHARACTERS
    plain[np.searchsorted(ends, np.flatnonzero(octets >= 128))] = False
    return plain
