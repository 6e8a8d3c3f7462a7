"""From the words of documents to posting lists in the order of terms.

The offset of a word is the number of words before it in its field, plus one for each heading before its own,
so that no phrase reaches from one heading into the next. Only the first 2²⁰ offsets of a field are indexed.
The parts of an identifier, and words without their accents, are indexed beside a word. They neither move the
words behind it nor count as words of the field: phrases and field lengths stay what they are.

A word as it is written (its form) selects documents, and no phrase asks for it. So it has one position in a
document, which says in which fields it is (index/fields.py).

A word becomes one 64-bit key: the rank of its term in byte order, its document, its position, from the high
bits down. So sorting keys sorts postings. Each batch is sorted by itself, since keys that fit a cache sort
twice as fast, and all batches are cut at the same terms. The cuts are merged by numpy's stable sort, which
makes use of what is in order already.
"""

from __future__ import annotations

from bisect import bisect
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

import msgspec
import numpy as np

from crawlctl.pipeline.index.building.vocabulary import (
    BREAK,
    BREAK_NUMBER,
    FIELD_END,
    FIELD_END_NUMBER,
    FIRST_TERM,
    NO_SIDE_TERMS,
    SideTerms,
)
from crawlctl.pipeline.index.fields import MAX_OFFSETS, OFFSET_BITS, PAGE_FIELDS, POSITION_BITS
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
from crawlctl.pipeline.index.segment.stored_documents import Lengths

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.array_types import IndexArray, Int32Array, Int64Array, UInt64Array
    from crawlctl.pipeline.index.building.vocabulary import Vocabulary
    from crawlctl.pipeline.index.segment.stored_documents import Document

_DOCUMENT_BITS = 17  # this leaves 24 bits for terms
MAX_DOCUMENTS = 1 << _DOCUMENT_BITS
SLICE_POSITIONS = 200_000

_SAMPLES = 1000  # how many keys per slice are sampled to decide where to cut
_TERM_SHIFT = POSITION_BITS + _DOCUMENT_BITS
_FIRST_MARK = (1 << 64) - (1 << _TERM_SHIFT)
_MARK = _FIRST_MARK - (1 << 64)  # the same bits in a signed number
ALL_OF_FIELD = ~((1 << OFFSET_BITS) - 1)  # a mask for positions: all bits but the offset in the field

END_MARK = b" " + FIELD_END + b" "
BREAK_MARK = b" " + BREAK + b" "

_POSITION = np.uint64((1 << POSITION_BITS) - 1)

# How long the heads of strings in msgpack are, and the packed sizes at which the next longer head begins.
_PACKED_HEADS = (1, 2, 3, 5)
_PACKED_SIZES = (32 + 2, 0xFF + 1 + 3, 0xFFFF + 1 + 5)
_pack = msgspec.msgpack.Encoder().encode


class Words(NamedTuple):
    """The words of some documents as numbers of terms, with marks for breaks and for the ends of fields."""

    numbers: Int32Array
    documents: Int32Array  # the ordinals of the documents
    beside: SideTerms = NO_SIDE_TERMS

    @property
    def memory(self) -> int:
        """The bytes held."""
        return self.numbers.nbytes + self.documents.nbytes + sum(column.nbytes for column in self.beside)


def marked(document: Document) -> bytes:
    """Return the fields of a document in UTF-8, with a mark at the end of each."""
    fields = (
        utf8_of_kept(document.text),
        BREAK_MARK.join(map(_utf8, document.headings)),
        _utf8(document.title),
        _utf8(url_text(document.url)),
    )
    return END_MARK.join((*fields, b""))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def utf8_of_kept(text: str) -> bytes | memoryview:
    """Return a text in UTF-8 that will also be packed with msgspec.

    A string that msgspec has packed once keeps its UTF-8 from then on. So a text that is not all ASCII is
    encoded once and not twice.
    """
    try:
        packed = _pack(text)
    except UnicodeEncodeError:
        return _utf8(text)
    return memoryview(packed)[_PACKED_HEADS[bisect(_PACKED_SIZES, len(packed))] :]


def url_text(url: str) -> str:
    """Return the searchable text of a URL: all but the scheme, with escapes decoded."""
    return unquote(url.partition("://")[2] or url)


def words_of_batch(data: bytes, ordinals: Sequence[int], language: str, vocabulary: Vocabulary) -> Words:
    """Return the words of marked documents of one language."""
    numbers, beside = vocabulary.terms(data, language)
    ends = field_ends(numbers)
    starts = field_starts(ends)
    if (ends - starts).max(initial=0) > MAX_OFFSETS:
        numbers, beside = _cut(numbers, beside, starts, ends)
    return Words(numbers, np.array(ordinals, np.int32), beside)


def field_ends(numbers: Int32Array) -> IndexArray:
    """Return the indices of the marks that end fields."""
    return np.flatnonzero(numbers == FIELD_END_NUMBER)


def field_starts(ends: IndexArray) -> IndexArray:
    """Return the index of the first word of each field, given the ends of all fields."""
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    return starts


def field_lengths(numbers: Int32Array, starts: IndexArray, ends: IndexArray) -> IndexArray:
    """Return the number of words of each field, without breaks."""
    breaks = np.searchsorted(ends, np.flatnonzero(numbers == BREAK_NUMBER))
    return ends - starts - np.bincount(breaks, minlength=len(ends))


def lengths_of(words: Words) -> list[Lengths]:
    """Return the lengths of the documents of a batch."""
    ends = field_ends(words.numbers)
    lengths = field_lengths(words.numbers, field_starts(ends), ends)
    return [Lengths(*found) for found in lengths.reshape(-1, len(PAGE_FIELDS)).tolist()]


def _cut(
    numbers: Int32Array, beside: SideTerms, starts: IndexArray, ends: IndexArray
) -> tuple[Int32Array, SideTerms]:
    """Return the numbers and the terms beside them without those beyond the limit of their field."""
    kept = np.ones(len(numbers), np.bool_)
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        kept[start + MAX_OFFSETS : end] = False
    stay = kept[beside.words]
    words = np.cumsum(kept)[beside.words[stay]] - 1
    return numbers[kept], SideTerms(words, beside.offsets[stay], beside.numbers[stay])


def inverted(
    batches: Iterable[Words], ranks: Int32Array, stems: Int32Array
) -> Iterator[tuple[IndexArray, Lists]]:
    """Yield slices of the posting lists: the ranks of some terms, rising, and the list of each.

    `ranks` has, for each number of a term, the rank of the term in byte order, and `stems` the number of the
    stem of each form.
    """
    terms = ranks.astype(np.int64) << _TERM_SHIFT
    terms[:FIRST_TERM] = _MARK  # sorts behind all terms
    forms = np.where(stems == np.arange(len(stems)), _MARK, terms)
    stemmed = terms[stems]
    keys = [_sorted_keys(words, stemmed, forms) for words in batches]
    bounds = _bounds(keys, len(ranks))
    cuts = [np.searchsorted(some, bounds) for some in keys]
    for number in range(len(bounds) - 1):
        chosen = [some[cut[number] : cut[number + 1]] for some, cut in zip(keys, cuts, strict=True)]
        together = np.concatenate(chosen)
        together.sort(kind="stable")
        yield lists_of_keys(together, _DOCUMENT_BITS)


def _sorted_keys(words: Words, terms: Int64Array, forms: Int64Array) -> UInt64Array:
    """Return the keys of the words and of their forms.

    `terms` and `forms` have the high bits of a key by the number of the word: of its stem, and of its form.
    """
    ends = field_ends(words.numbers)
    starts = field_starts(ends)
    fields = np.arange(len(ends)) % len(PAGE_FIELDS)
    first = (words.documents.astype(np.int64) << POSITION_BITS).repeat(len(PAGE_FIELDS))
    # The offset of a word is its index in the batch minus the index of the first word of the field.
    first |= fields << OFFSET_BITS
    keys = np.repeat(first - starts, ends - starts + 1)
    keys += np.arange(len(keys))
    places, numbers = side_positions(keys, _within_bodies(words.beside, ends))
    written = _form_keys(keys, words.numbers, places, numbers, forms)
    keys |= terms[words.numbers]
    packed: UInt64Array = np.concatenate((keys, places | terms[numbers])).view(np.uint64)
    packed.sort()
    packed = packed[: np.searchsorted(packed, np.uint64(_FIRST_MARK))]
    packed = without_repeats(packed) if len(places) else packed
    together = np.concatenate((packed, written))
    together.sort(kind="stable")
    return together


def _form_keys(
    keys: Int64Array, words: Int32Array, places: Int64Array, beside: Int32Array, forms: Int64Array
) -> UInt64Array:
    """Return the sorted keys of forms, each once per document, given positions and numbers of words."""
    numbers = np.concatenate((words, beside))
    found = np.concatenate((keys, places)) & ALL_OF_FIELD | forms[numbers]
    packed: UInt64Array = found.view(np.uint64)
    packed.sort()
    packed = without_repeats(packed[: np.searchsorted(packed, np.uint64(_FIRST_MARK))])
    if not len(packed):
        return packed
    firsts = _changes(packed, POSITION_BITS)
    bits = np.uint64(1) << ((packed & _POSITION) >> np.uint64(OFFSET_BITS))
    return packed[firsts] & ~_POSITION | np.bitwise_or.reduceat(bits, firsts)


def _within_bodies(beside: SideTerms, ends: IndexArray) -> SideTerms:
    """Return the terms beside words, without terms that would lie behind the end of a body.

    A search numbers the words of all bodies and leaves no room behind a body; other fields have room.
    """
    fields = np.searchsorted(ends, beside.words)
    kept = (fields % len(PAGE_FIELDS) != 0) | (beside.words + beside.offsets < ends[fields])
    return beside if kept.all() else SideTerms(*(column[kept] for column in beside))


def side_positions(positions: Int64Array, beside: SideTerms) -> tuple[Int64Array, Int32Array]:
    """Return the positions of the terms beside words, and these terms, given the positions of all words.

    A part lies as far behind its identifier as there are parts before it, so that a phrase of the parts finds
    it; a part that would lie beyond the offsets of its field is left out.
    """
    first = positions[beside.words]
    places = first + beside.offsets
    inside = places >> OFFSET_BITS == first >> OFFSET_BITS
    return places[inside], beside.numbers[inside]


def without_repeats(keys: UInt64Array) -> UInt64Array:
    """Return sorted keys without repetitions: a part of an identifier may also be the word behind it."""
    return keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys


def _bounds(keys: Sequence[UInt64Array], terms: int) -> UInt64Array:
    """Return keys that cut the terms into slices of about SLICE_POSITIONS, including both ends."""
    every = max(SLICE_POSITIONS // _SAMPLES, 1)
    # The remainder is split between both ends, so that many small batches do not all show their lowest key.
    sample = np.concatenate([some[len(some) % every // 2 :: every] for some in keys])
    sample.sort()
    edges = sample[:: SLICE_POSITIONS // every] >> np.uint64(_TERM_SHIFT)
    edges[:1] = 0
    bounds: UInt64Array = np.unique(np.append(edges, np.uint64(terms))) << np.uint64(_TERM_SHIFT)
    return bounds


def lists_of_keys(keys: UInt64Array, document_bits: int) -> tuple[IndexArray, Lists]:
    """Return the terms and posting lists of sorted keys, in which an ordinal takes `document_bits` bits."""
    firsts = _changes(keys, POSITION_BITS)
    frequencies = np.diff(firsts, append=len(keys)).astype(np.int32)
    postings = keys[firsts] >> np.uint64(POSITION_BITS)
    return lists_of_postings(postings, frequencies, _low_bits(keys, POSITION_BITS), document_bits)


def lists_of_postings(
    postings: UInt64Array,
    frequencies: NDArray[np.signedinteger],
    positions: NDArray[np.signedinteger],
    document_bits: int,
) -> tuple[IndexArray, Lists]:
    """Return the terms and posting lists of sorted postings: keys without the bits of the position."""
    starts = _changes(postings, document_bits)
    terms = (postings[starts] >> np.uint64(document_bits)).astype(np.intp)
    counts = np.diff(starts, append=len(postings))
    return terms, Lists(counts, _low_bits(postings, document_bits), frequencies, positions)


def _changes(keys: UInt64Array, bits: int) -> IndexArray:
    """Return the indices of keys that differ from the key before them in more than the lowest `bits` bits."""
    different = np.ones(len(keys), np.bool_)
    np.greater_equal(keys[1:] ^ keys[:-1], np.uint64(1 << bits), out=different[1:])
    return np.flatnonzero(different)


def _low_bits(keys: UInt64Array, bits: int) -> Int32Array:
    low = keys.astype(np.uint32)
    low &= np.uint32((1 << bits) - 1)
    return low.view(np.int32)
