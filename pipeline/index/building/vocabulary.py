"""From the text of documents to numbers of terms.

A term is the marked stem of a word in the language of its document (text/words/stems.py). Texts are cut into
chunks at ASCII separators (text/words/token_arrays.py), and the chunks are numbered
(arrays/string_numbers.py). Only a new chunk is cut into words; later its number leads to its terms. An
identifier is one word; its parts (`parts_of` in text/words/tokens.py) are terms beside it, and so is a word
without its accents (text/words/accents.py).

A word is also indexed as it is written, by its form (stems.py). A text becomes a sequence of numbers of
forms, and the number of a form leads to the number of its stem. So form and stem together take four bytes per
word, and forms take no time before they are sorted.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import KEY_BYTES, byte_order, cut_at, first_bytes
from crawlctl.pipeline.arrays.ragged import indices_of, starts_of
from crawlctl.pipeline.arrays.string_numbers import StringNumbers
from crawlctl.pipeline.text.words.accents import HAS_ACCENTS, unaccented
from crawlctl.pipeline.text.words.stems import forms, mark_of, stems
from crawlctl.pipeline.text.words.token_arrays import chunks_of, words_of_chunks
from crawlctl.pipeline.text.words.tokens import MAX_CHARACTERS, parts_of, tokens_of_chunk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.arrays.array_types import BoolArray, IndexArray, Int32Array
    from crawlctl.pipeline.arrays.byte_strings import ByteStrings

MAX_TERMS = 1 << 24

# These bytes never occur in UTF-8; their numbers are not used for terms.
FIELD_END = b"\xff"
BREAK = b"\xfe"
FIELD_END_NUMBER = 0
BREAK_NUMBER = 1
FIRST_TERM = 2

_MARKS = {FIELD_END: FIELD_END_NUMBER, BREAK: BREAK_NUMBER}
_MAX_CHUNKS_BYTES = 24 << 20
_SPACE = 32
_UNDERSCORE = 95
_FIRST_ACCENTED, _LAST_ACCENTED = 0xC3, 0xE1  # the first byte of a letter with an accent lies between
_NOT_ASCII = np.uint64(0x8080808080808080)
_PADDING = bytes(KEY_BYTES)


class SideTerms(NamedTuple):
    """Terms beside the words of a text: parts of identifiers, and words without their accents."""

    words: IndexArray  # the index, among the numbers of the text, of the first word of the chunk
    offsets: IndexArray  # how far behind that word the term lies
    numbers: Int32Array  # of the terms


NO_SIDE_TERMS = SideTerms(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, np.int32))


class TextTerms(NamedTuple):
    """The words of a text as numbers of their forms, with the numbers of its marks; and terms beside them."""

    numbers: Int32Array
    beside: SideTerms


class Vocabulary:
    """The terms of a run, numbered as they come, and the chunks of text that led to them, per language."""

    def __init__(self) -> None:
        self._terms = _TermTable()
        self._chunks: dict[str, _ChunkTerms] = {}

    def __len__(self) -> int:
        return len(self._terms)

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        return self._terms.memory + self._chunks_memory()

    def numbers(self, data: bytes, language: str) -> Int32Array:
        """Return the stems of a text in UTF-8, one number per word, and the numbers of its marks."""
        numbers = self.terms(data, language).numbers  # makes new stems known
        return self.stems()[numbers]

    def terms(self, data: bytes, language: str) -> TextTerms:
        """Return the terms of a text in UTF-8, and those beside them."""
        if self._chunks_memory() > _MAX_CHUNKS_BYTES:
            self._chunks.clear()
        if language not in self._chunks:
            self._chunks[language] = _ChunkTerms(self._terms, language)
        return self._chunks[language].terms(data)

    def sorted_terms(self) -> tuple[ByteStrings, Int32Array]:
        """Return the terms in byte order, and for each number the rank of its term in that order."""
        return self._terms.in_order()

    def stems(self) -> Int32Array:
        """Return, for each number of a form, the number of its stem; other terms stand for themselves."""
        return self._terms.stems()

    def _chunks_memory(self) -> int:
        return sum(chunks.memory for chunks in self._chunks.values())


class _TermTable:
    """The distinct terms of a run, numbered as they come from FIRST_TERM on."""

    def __init__(self) -> None:
        self._table = StringNumbers()
        self._joined: list[bytes] = []  # all terms by number, a space behind each
        self._bytes = 0
        self._stems: Int32Array = np.arange(FIRST_TERM, dtype=np.int32)  # by number of the term

    def __len__(self) -> int:
        return len(self._table)

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        return self._table.memory + self._bytes + self._stems.nbytes

    def numbers(self, words: Sequence[bytes], language: str) -> Int32Array:
        """Return the number of the form of each word, or of its stem if it has no form.

        Words are in UTF-8.
        """
        bare = _bare_terms(stems(words, language))
        numbers = self._numbers_of(_with_marks(bare, language))
        written = forms(_bare_terms(words), bare, language)
        having = [place for place, form in enumerate(written) if form]
        if having:
            known = self._numbers_of([written[place] for place in having])
            self._stems[known] = numbers[having]
            numbers[having] = known
        return numbers

    def stems(self) -> Int32Array:
        """Return, for each number of a form, the number of its stem; other terms stand for themselves."""
        return self._stems

    def _numbers_of(self, terms: list[bytes]) -> Int32Array:
        found = _cut(terms)
        numbers, new = self._table.numbers(found)
        if len(self) + FIRST_TERM > MAX_TERMS:
            raise ValueError(f"more than {MAX_TERMS} different terms; write the run before it is full")
        if len(new):
            self._joined.append(found.take(new).joined(_SPACE))
            self._bytes += len(self._joined[-1])
            fresh = np.arange(len(self._stems), FIRST_TERM + len(self), dtype=np.int32)
            self._stems = np.concatenate((self._stems, fresh))
        numbers += FIRST_TERM
        return numbers

    def in_order(self) -> tuple[ByteStrings, Int32Array]:
        """Return the terms in byte order, and for each number the rank of its term in that order."""
        terms = cut_at(_SPACE, np.frombuffer(b"".join(self._joined), np.uint8))
        order = byte_order(terms)
        ranks = np.zeros(FIRST_TERM + len(terms), np.int32)
        ranks[FIRST_TERM + order] = np.arange(len(terms))
        return terms.take(order), ranks


def _bare_terms(words: Sequence[bytes]) -> list[bytes]:
    """Return words or stems, cut at the longest term."""
    if max(map(len, words), default=0) <= MAX_CHARACTERS:
        return list(words)
    return [word.decode()[:MAX_CHARACTERS].encode() for word in words]


def _with_marks(stems: list[bytes], language: str) -> list[bytes]:
    """Return the terms of stems, as `marked_stem` makes them one by one."""
    mark = mark_of(language)
    return [stem if stem.isdigit() else stem + mark for stem in stems] if mark else stems


def _cut(words: list[bytes]) -> ByteStrings:
    """Return the words as strings with 16 bytes behind them; faster than `strings_of`."""
    return cut_at(_SPACE, np.frombuffer(b" ".join((*words, _PADDING)), np.uint8))


class _ChunkTerms:
    """The terms of each chunk met in one language.

    A chunk of one word has the number of its term. A chunk with no word or several has a negative number,
    which leads to its terms.
    """

    def __init__(self, terms: _TermTable, language: str) -> None:
        self._terms = terms
        self._language = language
        self._chunks = StringNumbers()
        self._numbers: Int32Array = np.zeros(0, np.int32)  # by number of the chunk
        # The words of chunks that are not one plain word; in Chinese, words recur in many chunks.
        self._words = StringNumbers()
        self._word_numbers: Int32Array = np.zeros(0, np.int32)
        # The terms of all chunks that have not exactly one word, end to end, and where each chunk begins.
        self._several: Int32Array = np.zeros(0, np.int32)
        self._bounds: IndexArray = np.zeros(1, np.intp)
        self._beside = _ChunkSideTerms(terms, language)

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        arrays = (self._numbers, self._word_numbers, self._several, self._bounds)
        held = self._chunks.memory + self._words.memory + self._beside.memory
        return held + sum(array.nbytes for array in arrays)

    def terms(self, data: bytes) -> TextTerms:
        """Return the terms of a text in UTF-8."""
        chunks = chunks_of(data)
        numbers, new = self._chunks.numbers(chunks)
        if len(new):
            fresh = chunks.take(new)
            self._numbers = np.concatenate((self._numbers, self._learnt(fresh)))
            self._beside.learn(fresh)
        coded = self._numbers.take(numbers, mode="wrap")
        beside = self._beside.of(numbers)
        if len(beside.words):
            beside = beside._replace(words=self._moved(coded, beside.words))
        return TextTerms(self._expanded(coded), beside)

    def _learnt(self, chunks: ByteStrings) -> Int32Array:
        """Return the numbers of new chunks."""
        plain = _are_plain(chunks)
        words = chunks.take(plain).joined(_SPACE).lower()
        if plain.all():
            return self._terms.numbers(words.split(), self._language)
        numbers, counts, new = self._words_of(chunks.take(~plain))
        terms = self._terms.numbers((words + new).split(), self._language)
        learnt = np.empty(len(chunks), np.int32)
        learnt[plain], new_terms = np.split(terms, [int(plain.sum())])
        self._word_numbers = np.concatenate((self._word_numbers, new_terms))
        learnt[~plain] = self._coded(self._word_numbers[numbers], counts)
        for mark, number in _MARKS.items():
            marks = (chunks.lengths == 1) & (chunks.octets[chunks.starts] == mark[0])
            learnt[marks] = number
        return learnt

    def _words_of(self, chunks: ByteStrings) -> tuple[Int32Array, IndexArray, bytes]:
        """Return the numbers of all words of chunks, how many words each chunk has, and the new words."""
        joined, counts, refused = words_of_chunks(chunks.joined(_SPACE))
        if refused.any():
            found = [tokens_of_chunk(chunk) for chunk in chunks.take(refused)]
            counts[refused] = list(map(len, found))
            joined += " ".join((*chain.from_iterable(found), "")).encode()
        words = cut_at(_SPACE, np.frombuffer(joined + bytes(KEY_BYTES), np.uint8))
        numbers, new = self._words.numbers(words)
        if refused.any():
            order = np.argsort(np.repeat(refused, counts), kind="stable")  # words of refused chunks came last
            numbers[order] = numbers.copy()
        return numbers, counts, words.take(new).joined(_SPACE)

    def _coded(self, words: Int32Array, counts: IndexArray) -> Int32Array:
        """Return the numbers of chunks of any number of words; `words` are the terms of all words."""
        single = counts == 1
        inside = np.repeat(single, counts)
        numbers = np.empty(len(counts), np.int32)
        numbers[single] = words[inside]
        numbers[~single] = -len(self._bounds) - np.arange(len(counts) - int(single.sum()))
        self._several = np.append(self._several, words[~inside])
        self._bounds = np.append(self._bounds, self._bounds[-1] + np.cumsum(counts[~single]))
        return numbers

    def _moved(self, coded: Int32Array, chunks: IndexArray) -> IndexArray:
        """Return the index of the first word of some chunks among the words of all chunks."""
        indices = np.flatnonzero(coded < 0)
        which = -1 - coded[indices]
        added = np.append(0, np.cumsum(self._bounds[which + 1] - self._bounds[which] - 1))
        moved: IndexArray = chunks + added[np.searchsorted(indices, chunks)]
        return moved

    def _expanded(self, coded: Int32Array) -> Int32Array:
        """Return the numbers, with the terms of the chunk in place of each negative number."""
        indices = np.flatnonzero(coded < 0)
        if not len(indices):
            return coded
        which = -1 - coded[indices]
        starts = self._bounds[which]
        counts = self._bounds[which + 1] - starts
        numbers = np.empty(len(coded) + int((counts - 1).sum()), np.int32)
        shifts = starts_of(counts - 1)  # how far the chunks before have moved the rest
        of_several = np.zeros(len(numbers), np.bool_)
        of_several[indices_of(indices + shifts, counts)] = True
        numbers[of_several] = self._several[indices_of(starts, counts)]
        numbers[~of_several] = coded[coded >= 0]
        return numbers


class _ChunkSideTerms:
    """The terms beside the words of each chunk that has some."""

    def __init__(self, terms: _TermTable, language: str) -> None:
        self._terms = terms
        self._language = language
        self._rows: Int32Array = np.zeros(0, np.int32)  # by number of the chunk; 0: it has none
        # The terms and offsets of all rows end to end, and where each row begins; row 0 is empty.
        self._numbers: Int32Array = np.zeros(0, np.int32)
        self._offsets: IndexArray = np.zeros(0, np.intp)
        self._bounds: IndexArray = np.zeros(2, np.intp)

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        return sum(array.nbytes for array in (self._rows, self._numbers, self._offsets, self._bounds))

    def learn(self, chunks: ByteStrings) -> None:
        """Find the terms beside the words of new chunks."""
        rows = np.zeros(len(chunks), np.int32)
        likely = _with_capitals_signs_or_accents(chunks)
        some_chunks = chunks.take(likely).tolist()
        pairs = zip(likely.tolist(), map(self._beside, some_chunks), strict=True)
        found = {index: some for index, some in pairs if some}
        if found:
            rows[list(found)] = len(self._bounds) - 1 + np.arange(len(found))
            words = [word for some in found.values() for _, word in some]
            self._numbers = np.append(self._numbers, self._numbers_of(words))
            self._offsets = np.append(
                self._offsets, [offset for some in found.values() for offset, _ in some]
            )
            ends = self._bounds[-1] + np.cumsum(list(map(len, found.values())))
            self._bounds = np.append(self._bounds, ends)
        self._rows = np.append(self._rows, rows)

    def _numbers_of(self, words: list[str]) -> Int32Array:
        """Return the numbers of the terms of words; identifiers share parts, so each word is stemmed once."""
        places = {word: place for place, word in enumerate(dict.fromkeys(words))}
        numbers = self._terms.numbers([word.encode() for word in places], self._language)
        return numbers[[places[word] for word in words]]

    def of(self, chunks: Int32Array) -> SideTerms:
        """Return the terms beside chunks with these numbers; `words` are indices of chunks."""
        rows = self._rows.take(chunks, mode="wrap")
        indices = np.flatnonzero(rows)
        if not len(indices):
            return NO_SIDE_TERMS
        starts = self._bounds[rows[indices]]
        counts = self._bounds[rows[indices] + 1] - starts
        held = indices_of(starts, counts)
        return SideTerms(np.repeat(indices, counts), self._offsets[held], self._numbers[held])

    def _beside(self, chunk: bytes) -> list[tuple[int, str]]:
        """Return the words beside those of a chunk, each with its offset from the first word."""
        if chunk.isascii():
            return list(enumerate(parts_of(chunk)))
        if not HAS_ACCENTS.search(chunk):
            return []
        words = tokens_of_chunk(chunk.lower())
        return [(at, other) for at, word in enumerate(words) for other in unaccented(word, self._language)]


def _with_capitals_signs_or_accents(chunks: ByteStrings) -> IndexArray:
    """Return the indices of the chunks that have a capital, an underscore or a letter with an accent."""
    octets = np.frombuffer(chunks.joined(_SPACE), np.uint8)
    likely = (octets - np.uint8(ord("A")) < np.uint8(26)) | (octets == _UNDERSCORE)
    likely |= octets - np.uint8(_FIRST_ACCENTED) <= np.uint8(_LAST_ACCENTED - _FIRST_ACCENTED)
    ends = np.cumsum(chunks.lengths + 1)
    return np.unique(np.searchsorted(ends, likely.nonzero()[0], side="right"))


def _are_plain(chunks: ByteStrings) -> BoolArray:
    """Return which chunks are a single ASCII word, unchanged."""
    octets, starts, lengths = chunks.octets, chunks.starts, chunks.lengths
    plain: BoolArray = lengths <= MAX_CHARACTERS
    for edge in (starts, starts + lengths - 1):
        plain &= octets[edge] != _UNDERSCORE
    halves = first_bytes(octets, starts, lengths).view(np.uint64).reshape(-1, 2)
    plain &= ((halves[:, 0] | halves[:, 1]) & _NOT_ASCII) == 0
    doubtful = np.flatnonzero(plain & (lengths > KEY_BYTES))
    plain[doubtful] = [chunk.isascii() for chunk in chunks.take(doubtful)]
    return plain
