"""The posting lists of a segment, read in plain Python; array_lists.py reads them with numpy.

A list has two sections, because only some queries, such as phrases, need positions. Its count of documents is
kept in its term info. Each section is a head byte and a body; the body of a large section is deflated (raw),
and bit 7 of the head says so.

    documents   head: bit 0 one mask serves all documents
        gaps         each ordinal minus the ordinal before it; the first plus 1
        impacts      1 byte each: what the term adds to the score of the document, at most 255
        masks        1 byte each, or one for all: bit 1 << field for each field that has the term
    positions   head: bit 0 the term occurs once in each document, and there are no frequencies
        frequencies  the number of positions in each document
        gaps         each position minus the position before it in the same document; the first plus 1

Gaps and frequencies are short numbers (short_numbers.py) and never 0, so damage cannot make ordinals or
positions run backwards.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple, cast

import msgspec
from isal import isal_zlib

from crawlctl.pipeline.index.segment.postings.short_numbers import (
    MAX_BYTES,
    MAX_NUMBER,
    NumberRanges,
    has_zero,
    read_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ALIKE = 1
DEFLATED = 1 << 7
RAW_DEFLATE_BITS = -15

_IgzipError = cast("type[Exception]", isal_zlib.error)  # its stub takes the class for an instance


class PackedList(msgspec.Struct, frozen=True, gc=False):
    """The bytes of one list."""

    count: int
    max_impact: int
    documents: bytes
    positions: bytes


class Documents(NamedTuple):
    """The documents of a term, with the impact and the fields of the term in each."""

    ordinals: list[int]
    impacts: bytes
    masks: bytes


class Positions:
    """The positions of a term in each document of its list; decoded per document, when asked for."""

    def __init__(self, frequencies: Sequence[int], gaps: Sequence[int]) -> None:
        self._bounds = list(accumulate(frequencies, initial=0))
        self.count = self._bounds[-1]  # the number of positions in all documents
        self._gaps = gaps

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def __getitem__(self, index: int) -> list[int]:
        """Return the positions, rising, in the document at this index of the list."""
        return self._risen(self._bounds[index], self._bounds[index + 1])

    def __iter__(self) -> Iterator[list[int]]:
        for start, end in pairwise(self._bounds):
            yield self._risen(start, end)

    def _risen(self, start: int, end: int) -> list[int]:
        return list(accumulate(self._gaps[start:end], initial=-1))[1:]


def decode_documents(section: bytes, count: int, documents: int = MAX_NUMBER + 1) -> Documents:
    """Return the documents section of a list of `count` documents; raise ValueError on damage.

    `documents` is the number of documents of the segment.
    """
    body = documents_body(section, count)
    gaps, impacts_at = read_numbers(body, 0, count)
    masks_at = impacts_at + count
    alike = section[0] & ALIKE
    if has_zero(body, 0, count) or len(body) != masks_at + (1 if alike else count):
        raise ValueError(f"a posting list of {count} documents is cut off or does not rise")
    ordinals = list(accumulate(gaps, initial=-1))
    del ordinals[0]
    if ordinals[-1] >= documents:
        raise ValueError(f"a posting list names document {ordinals[-1]} of {documents}")
    masks = body[masks_at:]
    return Documents(ordinals, body[impacts_at:masks_at], masks * count if alike else masks)


def decode_positions(section: bytes, count: int) -> Positions:
    """Return the positions section of a list of `count` documents; raise ValueError on damage."""
    body = positions_body(section, count, lambda start: sum(read_numbers(start, 0, count)[0]))
    frequencies, start = (b"\1" * count, 0) if section[0] & ALIKE else read_numbers(body, 0, count)
    gaps, end = read_numbers(body, start, sum(frequencies))
    if has_zero(body, start, len(gaps)) or 0 in frequencies or end != len(body):
        raise ValueError("the positions of a posting list do not rise or are too many")
    return Positions(frequencies, gaps)


def positions_of_some(section: bytes, count: int, indices: Iterable[int]) -> Iterator[list[int]]:
    """Yield the positions in the documents at some rising indices of a list; raise ValueError on damage.

    To read a few hundred documents of a long list takes a tenth of the time that `decode_positions` takes.
    """
    body = positions_body(section, count, lambda start: sum(read_numbers(start, 0, count)[0]))
    frequencies, start = (b"\1" * count, 0) if section[0] & ALIKE else read_numbers(body, 0, count)
    bounds = list(accumulate(frequencies, initial=0))
    ranges = NumberRanges(body, start, bounds[-1])
    if ranges.end != len(body):
        raise ValueError("the positions of a posting list are too many")
    for index in indices:
        gaps = ranges.read(bounds[index], bounds[index + 1])
        if 0 in gaps:
            raise ValueError("the positions of a posting list do not rise")
        yield list(accumulate(gaps, initial=-1))[1:]


def documents_body(section: bytes, count: int) -> bytes:
    """Return the inflated body of a documents section."""
    _check(section, count)
    return _Inflater(section).rest((MAX_BYTES + 2) * count) if section[0] & DEFLATED else section[1:]


def positions_body(section: bytes, count: int, total: Callable[[bytes], int]) -> bytes:
    """Return the inflated body of a positions section; `total` sums up the frequencies at its beginning.

    The frequencies say how many positions there are, which bounds the size that a damaged body inflates to.
    """
    _check(section, count)
    if not section[0] & DEFLATED:
        return section[1:]
    inflater = _Inflater(section)
    if section[0] & ALIKE:
        return inflater.rest(MAX_BYTES * count)
    start = inflater.take(MAX_BYTES * count)
    return start + inflater.rest(MAX_BYTES * total(start))


def _check(section: bytes, count: int) -> None:
    if not section or not 0 < count <= MAX_NUMBER:
        raise ValueError(f"a posting list of {count} documents in {len(section)} bytes")


class _Inflater:
    """Inflates the body of a section, never more bytes than the caller allows."""

    def __init__(self, section: bytes) -> None:
        self._inflater = isal_zlib.decompressobj(RAW_DEFLATE_BITS)
        self._left: bytes | memoryview = memoryview(section)[1:]

    def take(self, limit: int) -> bytes:
        """Return the next `limit` bytes of the body, or fewer if it ends."""
        try:
            inflated = self._inflater.decompress(self._left, limit)
        except _IgzipError as err:
            raise ValueError(f"a posting list does not inflate ({err})") from err
        self._left = self._inflater.unconsumed_tail
        return inflated

    def rest(self, limit: int) -> bytes:
        """Return the rest of the body; raise ValueError if it has more than `limit` bytes."""
        inflated = self.take(limit + 1)
        if len(inflated) > limit or not self._inflater.eof or self._inflater.unused_data:
            raise ValueError("a posting list is cut off or inflates to more than it may")
        return inflated
