"""The posting lists of a run: one slice of many terms per record of its `postings` file.

    size         4 bytes, little-endian: how many bytes the terms take
    terms        in byte order, a space between two
    counts       the number of documents of each term
    documents    each ordinal less the one before it in the same list; the first plus 1
    frequencies  the number of positions in each document
    positions    each position less the one before it in the same document; the first of a document plus 1

The last four are short numbers (segment/postings/short_numbers.py). A run is written once, read once, by a
merge, and then deleted. So its columns hold many lists end to end, which takes no work per list, and are not
deflated. No number is 0 and each takes at least one byte, which bounds what damage can claim. Impacts are not
stored: they depend on the average lengths of all documents, which only a merge knows.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import are_rising, cut_at
from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.index.segment.postings.number_arrays import pack_array, read_array
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists, gaps_of, risen
from crawlctl.pipeline.index.segment.postings.short_numbers import MAX_NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.arrays.array_types import Int32Array, Octets
    from crawlctl.pipeline.arrays.byte_strings import ByteStrings

_SIZE_BYTES = 4
_SPACE = 32


class PostingList(NamedTuple):
    """One posting list in plain Python: ordinals, and the positions in each of the documents."""

    documents: list[int]
    positions: list[list[int]]


def encode_slice(terms: ByteStrings, lists: Lists) -> bytes:
    """Return the bytes of a slice; raise ValueError if numbers do not rise or are too large."""
    if not len(terms) or lists.counts.min() < 1 or lists.frequencies.min() < 1:
        raise ValueError("a posting list without documents or positions; leave its term out")
    joined = terms.joined(_SPACE)[:-1]
    columns = (
        lists.counts,
        gaps_of(lists.documents, starts_of(lists.counts)),
        lists.frequencies,
        gaps_of(lists.positions, starts_of(lists.frequencies)),
    )
    return b"".join((len(joined).to_bytes(_SIZE_BYTES, "little"), joined, *map(pack_array, columns)))


def decode_slice(value: bytes, documents: int) -> tuple[ByteStrings, Lists]:
    """Return the terms and lists of a slice of a run of `documents` documents; raise ValueError on damage."""
    start = _SIZE_BYTES + int.from_bytes(value[:_SIZE_BYTES], "little")
    terms = cut_at(_SPACE, np.frombuffer(value[_SIZE_BYTES:start] + b" ", np.uint8))
    if not are_rising(terms):
        raise ValueError("the terms of a slice of posting lists are not in order")
    body = np.frombuffer(value, np.uint8)
    counts, start = _read(body, start, len(terms))
    gaps, start = _read(body, start, int(counts.sum()))
    frequencies, start = _read(body, start, len(gaps))
    position_gaps, start = _read(body, start, int(frequencies.sum()))
    if start != len(value):
        raise ValueError(f"a slice of posting lists has {len(value)} bytes, not {start}")
    ordinals = _below(documents, risen(gaps, counts))
    positions = _below(MAX_NUMBER, risen(position_gaps, frequencies))
    return terms, Lists(counts.astype(np.int64), ordinals, frequencies, positions)


def plain_lists(lists: Lists) -> Iterator[PostingList]:
    """Yield each list in plain Python."""
    ordinals, positions = iter(lists.documents.tolist()), iter(lists.positions.tolist())
    frequencies = iter(lists.frequencies.tolist())
    for count in lists.counts.tolist():
        held = [list(islice(positions, frequency)) for frequency in islice(frequencies, count)]
        yield PostingList(list(islice(ordinals, count)), held)


def _read(body: Octets, start: int, length: int) -> tuple[Int32Array, int]:
    numbers, end = read_array(body, start, length)
    if not numbers.all():
        raise ValueError("a posting list does not rise or is empty")
    return numbers, end


def _below(limit: int, numbers: Int32Array) -> Int32Array:
    """Return the numbers; raise ValueError if damage has driven one over the limit, or made it overflow."""
    if (largest := numbers.view(np.uint32).max()) >= limit:
        raise ValueError(f"a posting list names document or position {largest} of {limit}")
    return numbers
