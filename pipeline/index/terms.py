"""From the text of documents to numbers of terms.

A term is the stem of a word in the language of its document, cut at 64 characters, in UTF-8. Texts are cut
into pieces at ASCII separators, and only a piece not met before is looked at in Python (see text.tokens).
Where pyarrow is installed, it cuts and numbers the pieces of a large batch in half the time that `split` and
a dictionary take; the terms are the same.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.text.stems import stemmer
from crawlctl.pipeline.text.tokens import MAX_CHARACTERS, PIECES, tokens_of_piece

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int32]

MAX_TERMS = 1 << 24

# Pieces are in lower case, so these cannot come from a text; their numbers are those of no term.
FIELD_END = b"F"
BREAK = b"B"
FIELD_END_NUMBER = 0
BREAK_NUMBER = 1
FIRST_TERM = 2

_BULK_BYTES = 1 << 18  # below, importing pyarrow costs more than it saves
_MAX_PIECES = 1 << 17
_MAX_REMEMBERED_BYTES = 48
_OBJECT_BYTES = 80  # a short bytes object and a number
_TUPLE_BYTES = 64


def term_of(word: str, language: str) -> bytes:
    """Return the term of a word that `tokens` yields."""
    return stemmer(language)(word)[:MAX_CHARACTERS].encode()


def pieces_of(text: str) -> bytes:
    """Return a text as pieces between spaces."""
    return text.encode("utf-8", "replace").translate(PIECES)


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
        """Return the terms of a text in pieces, one number a word, and those of the marks between fields."""
        if sum(pieces.size for pieces in self._pieces.values()) > _MAX_PIECES:
            self._pieces.clear()
        if language not in self._pieces:
            self._pieces[language] = _Pieces(self._numbers, language)
        pieces = self._pieces[language]
        return pieces.expanded(_coded(data, pieces))

    def sorted_terms(self) -> tuple[list[bytes], Numbers]:
        """Return the terms in byte order, and for each number the place of its term there."""
        import numpy as np

        terms = sorted(self._numbers)
        places = np.zeros(FIRST_TERM + len(terms), np.int32)
        numbers = np.fromiter(map(self._numbers.__getitem__, terms), np.int32, len(terms))
        places[numbers] = np.arange(len(terms))
        return terms, places


class _Pieces(dict[bytes, int]):
    """The term of each piece met in a language; of a piece with no word or several, a negative number."""

    def __init__(self, numbers: dict[bytes, int], language: str) -> None:
        self[FIELD_END] = FIELD_END_NUMBER
        self[BREAK] = BREAK_NUMBER
        self._numbers = numbers
        self._stem = stemmer(language)
        self._several: list[tuple[int, ...]] = []
        self._words_of_several = 0

    @property
    def size(self) -> int:
        """The number of pieces and words held."""
        return len(self) + self._words_of_several

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        several = _TUPLE_BYTES * len(self._several) + 8 * self._words_of_several
        return self.__sizeof__() + _OBJECT_BYTES * len(self) + several

    def __missing__(self, piece: bytes) -> int:
        words = tokens_of_piece(piece)
        if len(words) == 1:
            number = self._number_of(words[0])
        else:
            self._several.append(tuple(map(self._number_of, words)))
            self._words_of_several += len(words)
            number = -len(self._several)
        if len(piece) <= _MAX_REMEMBERED_BYTES:
            self[piece] = number
        return number

    def expanded(self, coded: Numbers) -> Numbers:
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

    def _number_of(self, word: str) -> int:
        term = self._stem(word)[:MAX_CHARACTERS].encode()
        number = self._numbers.setdefault(term, len(self._numbers) + FIRST_TERM)
        if number >= MAX_TERMS:
            raise ValueError(f"more than {MAX_TERMS} different terms; write the run before it is full")
        return number


def _coded(data: bytes, pieces: _Pieces) -> Numbers:
    import numpy as np

    if len(data) < _BULK_BYTES or _arrow() is None:
        cut = data.split()
        return np.fromiter(map(pieces.__getitem__, cut), np.int32, len(cut))
    different, places = _cut_by_arrow(data)
    coded: Numbers = np.fromiter(map(pieces.__getitem__, different), np.int32, len(different))[places]
    return coded


@lru_cache(maxsize=1)
def _arrow() -> Any:
    """Return pyarrow with its functions, None where it is not installed."""
    try:
        import_module("pyarrow.compute")
    except ImportError:
        return None
    return import_module("pyarrow")


def _cut_by_arrow(data: bytes) -> tuple[list[bytes], Numbers]:
    """Return the different pieces, and for each piece of the text its place among them.

    Separators at an end of the text yield an empty piece, which has no words.
    """
    arrow = _arrow()
    text = arrow.array([data], arrow.large_binary()).view(arrow.large_string())
    pieces = arrow.compute.ascii_split_whitespace(text).flatten()
    coded = pieces.view(arrow.large_binary()).dictionary_encode()
    return coded.dictionary.to_pylist(), coded.indices.to_numpy()
