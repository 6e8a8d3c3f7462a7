"""From the text of documents to numbers of terms.

A term is the stem of a word in the language of its document, cut at 64 characters, in UTF-8. Texts are cut
into pieces at ASCII separators (index/pieces.py), and only a piece not met before is looked at in Python (see
text.tokens).
"""

from __future__ import annotations

from collections import defaultdict
from itertools import compress, count
from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.stretches import places_of, starts_of
from crawlctl.pipeline.text.stems import stemmer, stems
from crawlctl.pipeline.text.tokens import MAX_CHARACTERS, PIECES, tokens_of_pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int32]
    Places = NDArray[np.intp]

MAX_TERMS = 1 << 24

# These bytes are never part of UTF-8; their numbers are those of no term.
FIELD_END = b"\xff"
BREAK = b"\xfe"
FIELD_END_NUMBER = 0
BREAK_NUMBER = 1
FIRST_TERM = 2

_MARKS = {FIELD_END: FIELD_END_NUMBER, BREAK: BREAK_NUMBER}
_SPACE = 32
_UNDERSCORE = 95
_MAX_PIECES_BYTES = 24 << 20
_OBJECT_BYTES = 96  # a short string and a number


def term_of(word: str, language: str) -> bytes:
    """Return the term of a word that `tokens` yields."""
    return stemmer(language)(word)[:MAX_CHARACTERS].encode()


class Vocabulary:
    """The terms of a run, numbered as they come."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count(FIRST_TERM).__next__)
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

        places = np.zeros(FIRST_TERM + len(self._numbers), np.int32)
        if not self._numbers:
            return [], places
        joined = " ".join(self._numbers).encode()  # a dictionary holds them in the order of their numbers
        terms = joined.split(b" ")
        order = _byte_order(terms, joined)
        places[FIRST_TERM + order] = np.arange(len(terms))
        return [terms[number] for number in order.tolist()], places


def _byte_order(terms: Sequence[bytes], joined: bytes) -> Places:
    """Return the places of terms by their bytes; `joined` holds them too, a space between two."""
    import numpy as np

    from crawlctl.pipeline.index.pieces import KEY_BYTES, first_bytes

    octets = np.frombuffer(joined + b" " * KEY_BYTES, np.uint8)
    ends = np.flatnonzero(octets == _SPACE)[: len(terms)]
    starts = _starts(ends)
    # No term has a zero byte, so a number of the first bytes, the first one highest, sorts as they do.
    halves = first_bytes(octets, starts, ends - starts).view(">u8").reshape(-1, 2).astype(np.uint64)
    order = np.lexsort((halves[:, 1], halves[:, 0]))
    halves = halves[order]
    alike = np.zeros(len(terms) + 1, np.bool_)
    alike[1:-1] = (halves[1:] == halves[:-1]).all(axis=1)
    doubtful = np.flatnonzero(alike[1:] | alike[:-1])
    order[doubtful] = sorted(order[doubtful].tolist(), key=terms.__getitem__)
    return order


class _Pieces:
    """The term of each piece met in a language; of a piece with no word or several, a negative number."""

    def __init__(self, numbers: defaultdict[str, int], language: str) -> None:
        import numpy as np

        from crawlctl.pipeline.index.pieces import PieceTable

        self._table = PieceTable()
        self._terms: Numbers = np.zeros(0, np.int32)
        self._numbers = numbers
        self._language = language
        # Of the pieces with another number of words than one, those end to end, and where each begins.
        self._several: Numbers = np.zeros(0, np.int32)
        self._bounds: Places = np.zeros(1, np.intp)

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        return self._table.memory + self._terms.nbytes + self._several.nbytes + self._bounds.nbytes

    def terms(self, data: bytes) -> Numbers:
        """Return the numbers of the terms of a text in pieces."""
        import numpy as np

        pieces, new = self._table.numbers(data)
        if new:
            self._terms = np.concatenate((self._terms, self._learnt(new)))
        return self._expanded(self._terms[pieces])

    def _learnt(self, joined: bytes) -> Numbers:
        """Return the terms of new pieces, which have a space behind each."""
        import numpy as np

        plain, starts, ends = _plain(joined)
        words = joined.decode("utf-8", "replace").split(" ")
        learnt = np.empty(len(plain), np.int32)
        learnt[plain] = self._numbers_of(list(compress(words, plain.tolist())))
        if not plain.all():
            bounds = zip(starts[~plain].tolist(), ends[~plain].tolist(), strict=True)
            learnt[~plain] = self._numbers_of_others([joined[start:end] for start, end in bounds])
        return learnt

    def _numbers_of_others(self, pieces: Sequence[bytes]) -> Numbers:
        """Return the terms of pieces with any number of words."""
        import numpy as np

        words, held = tokens_of_pieces(pieces)
        numbers, counts = np.array(self._numbers_of(words), np.int32), np.array(held, np.intp)
        single = counts == 1
        inside = np.repeat(single, counts)
        terms = np.empty(len(pieces), np.int32)
        terms[single] = numbers[inside]
        terms[~single] = -len(self._bounds) - np.arange(len(pieces) - int(single.sum()))
        self._several = np.append(self._several, numbers[~inside])
        self._bounds = np.append(self._bounds, self._bounds[-1] + np.cumsum(counts[~single]))
        for mark, number in _MARKS.items():
            if mark in pieces:
                terms[pieces.index(mark)] = number
        return terms

    def _numbers_of(self, words: Sequence[str]) -> list[int]:
        found = stems(words, self._language)
        if max(map(len, found), default=0) > MAX_CHARACTERS:
            found = [stem[:MAX_CHARACTERS] for stem in found]
        numbers = list(map(self._numbers.__getitem__, found))
        if len(self._numbers) + FIRST_TERM > MAX_TERMS:
            raise ValueError(f"more than {MAX_TERMS} different terms; write the run before it is full")
        return numbers

    def _expanded(self, coded: Numbers) -> Numbers:
        """Return the numbers with those of several words in place of each negative one."""
        import numpy as np

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


def _plain(joined: bytes) -> tuple[NDArray[np.bool_], Places, Places]:
    """Return which pieces are one word as they stand, being in ASCII, and where each begins and ends."""
    import numpy as np

    octets = np.frombuffer(joined, np.uint8)
    ends = np.flatnonzero(octets == _SPACE)
    starts = _starts(ends)
    plain = (octets[starts] != _UNDERSCORE) & (octets[ends - 1] != _UNDERSCORE)
    plain &= ends - starts <= MAX_CHARACTERS
    plain[np.searchsorted(ends, np.flatnonzero(octets >= 128))] = False
    return plain, starts, ends


def _starts(ends: Places) -> Places:
    """Return where pieces begin that have these ends and a space between two."""
    import numpy as np

    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    return starts
