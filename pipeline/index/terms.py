"""From the text of documents to numbers of terms.

A term is the stem of a word in the language of its document, cut at 64 characters, in UTF-8. Texts are cut
into pieces at ASCII separators (index/pieces.py), and only a piece not met before is looked at in Python (see
text.tokens).
"""

from __future__ import annotations

from itertools import chain, compress, islice
from typing import TYPE_CHECKING

from crawlctl.pipeline.text.stems import stemmer, stems
from crawlctl.pipeline.text.tokens import MAX_CHARACTERS, PIECES, tokens_of_piece

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int32]

MAX_TERMS = 1 << 24

# These bytes are never part of UTF-8; their numbers are those of no term.
FIELD_END = b"\xff"
BREAK = b"\xfe"
FIELD_END_NUMBER = 0
BREAK_NUMBER = 1
FIRST_TERM = 2

_MARKS = {FIELD_END: FIELD_END_NUMBER, BREAK: BREAK_NUMBER}
_MAX_PIECES_BYTES = 24 << 20
_OBJECT_BYTES = 80  # a short bytes object and a number
_TUPLE_BYTES = 64


def term_of(word: str, language: str) -> bytes:
    """Return the term of a word that `tokens` yields."""
    return stemmer(language)(word)[:MAX_CHARACTERS].encode()


class Vocabulary:
    """The terms of a run, numbered as they come."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._pieces: dict[str, _Pieces] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        held = self._numbers.__sizeof__() + _OBJECT_BYTES * len(self._numbers)
        return held + sum(pieces.memory for pieces in self._pieces.values())

    def numbers(self, data: bytes, language: str) -> Numbers:
        """Return the terms of a text in UTF-8, one number a word, and those of the marks between fields."""
        if sum(pieces.memory for pieces in self._pieces.values()) > _MAX_PIECES_BYTES:
            self._pieces.clear()
        if language not in self._pieces:
            self._pieces[language] = _Pieces(self._numbers, language)
        return self._pieces[language].terms(data.translate(PIECES))

    def sorted_terms(self) -> tuple[list[bytes], Numbers]:
        """Return the terms in byte order, and for each number the place of its term there."""
        import numpy as np

        terms = sorted(self._numbers)
        places = np.zeros(FIRST_TERM + len(terms), np.int32)
        numbers = np.fromiter(map(self._numbers.__getitem__, terms), np.int32, len(terms))
        places[numbers] = np.arange(len(terms))
        return terms, places


class _Pieces:
    """The term of each piece met in a language; of a piece with no word or several, a negative number."""

    def __init__(self, numbers: dict[bytes, int], language: str) -> None:
        import numpy as np

        from crawlctl.pipeline.index.pieces import PieceTable

        self._table = PieceTable()
        self._terms: Numbers = np.zeros(0, np.int32)
        self._numbers = numbers
        self._language = language
        self._several: list[tuple[int, ...]] = []
        self._words_of_several = 0

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        several = _TUPLE_BYTES * len(self._several) + 8 * self._words_of_several
        return self._table.memory + self._terms.nbytes + several

    def terms(self, data: bytes) -> Numbers:
        """Return the numbers of the terms of a text in pieces."""
        import numpy as np

        pieces, new = self._table.numbers(data)
        if new:
            self._terms = np.concatenate((self._terms, self._learnt(new)))
        return self._expanded(self._terms[pieces])

    def _learnt(self, pieces: Sequence[bytes]) -> Numbers:
        """Return the terms of new pieces; one in ASCII is a word, but for underscores at its ends."""
        import numpy as np

        stripped = [piece.strip(b"_") for piece in pieces]
        single = [piece.isascii() and 0 < len(piece) <= MAX_CHARACTERS for piece in stripped]
        words = b" ".join(compress(stripped, single)).decode().split(" ") if any(single) else ()
        learnt = np.empty(len(pieces), np.int32)
        others = ~np.array(single)
        learnt[~others] = self._numbers_of(words)
        learnt[others] = self._numbers_of_others([pieces[place] for place in np.flatnonzero(others).tolist()])
        return learnt

    def _numbers_of_others(self, pieces: Sequence[bytes]) -> list[int]:
        """Return the terms of pieces with any number of words."""
        found = [() if piece in _MARKS else tokens_of_piece(piece) for piece in pieces]
        numbers = iter(self._numbers_of([*chain.from_iterable(found)]))
        terms = [tuple(islice(numbers, len(words))) for words in found]
        return [
            _MARKS[piece] if piece in _MARKS else self._one(held)
            for piece, held in zip(pieces, terms, strict=True)
        ]

    def _one(self, terms: tuple[int, ...]) -> int:
        """Return the number that stands for these terms."""
        if len(terms) == 1:
            return terms[0]
        self._several.append(terms)
        self._words_of_several += len(terms)
        return -len(self._several)

    def _numbers_of(self, words: Sequence[str]) -> list[int]:
        add, known = self._numbers.setdefault, self._numbers
        found = stems(words, self._language)
        if max(map(len, found), default=0) > MAX_CHARACTERS:
            found = [stem[:MAX_CHARACTERS] for stem in found]
        terms = " ".join(found).encode().split(b" ") if found else []
        numbers = [add(term, len(known) + FIRST_TERM) for term in terms]
        if len(known) + FIRST_TERM > MAX_TERMS:
            raise ValueError(f"more than {MAX_TERMS} different terms; write the run before it is full")
        return numbers

    def _expanded(self, coded: Numbers) -> Numbers:
        """Return the numbers with those of several words in place of each negative one."""
        import numpy as np

        places = np.flatnonzero(coded < 0)
        if not len(places):
            return coded
        found = [self._several[-number - 1] for number in coded[places].tolist()]
        repeats = np.ones(len(coded), np.int32)
        repeats[places] = np.fromiter(map(len, found), np.int32, len(found))
        numbers = np.repeat(coded, repeats)
        numbers[numbers < 0] = np.fromiter(chain.from_iterable(found), np.int32, int(repeats[places].sum()))
        return numbers
