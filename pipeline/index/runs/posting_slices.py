"""The postings of a run, a slice of terms at a time: in which documents each stands, and at which positions.

    size         4 bytes, little-endian: how many the terms take
    terms        in byte order, a space between two
    counts       how many documents each term has
    documents    each ordinal less the one before it in the same list; the first plus 1
    frequencies  the occurrences in each document
    positions    each position less the one before it in the same document; a document's first plus 1

All are short numbers (short_numbers.py). A run is written once, read once, by a merge, and then thrown
away: so its columns hold many lists end to end, which takes no work for each list, and are not deflated. That
no number is 0, and that each has at least a byte, bounds what damage can claim. Impacts are not stored: they
depend on the average lengths of all documents, which only a merge knows.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.index.segment.postings.number_arrays import pack_array, read_array
from crawlctl.pipeline.index.segment.postings.short_numbers import MAX_NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeVar

    import numpy as np
    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.segment.postings.short_numbers import Integers, Octets

    _Number = TypeVar("_Number", bound=np.signedinteger)

_SIZE_BYTES = 4
_SPACE = 32


class Lists(NamedTuple):
    """Many lists as numpy holds them, end to end: `counts` says how many documents each has."""

    counts: Integers
    documents: NDArray[np.signedinteger]
    frequencies: NDArray[np.signedinteger]
    positions: NDArray[np.signedinteger]


class Rated(NamedTuple):
    """Lists, and a byte for each document of each of them: the impact, and the fields."""

    lists: Lists
    impacts: Octets
    masks: Octets


class PostingList(NamedTuple):
    """One list in plain Python: ordinals, and the positions in each of the documents."""

    documents: list[int]
    positions: list[list[int]]


def encode_slice(terms: ByteStrings, lists: Lists) -> bytes:
    """Return the bytes of a slice; numbers that do not rise or are too large are a ValueError."""
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
    """Return the terms and lists of a slice of a run of so many documents; damage is a ValueError."""
    import numpy as np

    from crawlctl.pipeline.arrays.byte_strings import are_rising, cut_at

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


def gaps_of(numbers: NDArray[_Number], starts: Integers) -> NDArray[_Number]:
    """Return how much each number exceeds the one before it; those at `starts` exceed -1."""
    import numpy as np

    gaps = np.empty_like(numbers)
    np.subtract(numbers[1:], numbers[:-1], out=gaps[1:])
    gaps[starts] = numbers[starts] + 1
    if gaps.min() < 1 or gaps.max() > MAX_NUMBER:
        raise ValueError(f"ordinals or positions do not rise or reach {MAX_NUMBER}; write smaller runs")
    return gaps


def risen(gaps: NDArray[_Number], lengths: NDArray[np.integer]) -> NDArray[_Number]:
    """Return the numbers that `gaps_of` was given, in stretches of these lengths; the gaps are used up."""
    import numpy as np

    # The first gap of a stretch is made one to the last number before it, which may lie below.
    starts = starts_of(lengths)[1:]
    reached = np.cumsum(gaps, dtype=gaps.dtype)[starts - 1]
    gaps[starts] -= np.diff(reached, prepend=gaps.dtype.type(0))
    gaps[0] -= 1
    return np.cumsum(gaps, dtype=gaps.dtype, out=gaps)


def _read(body: NDArray[np.uint8], start: int, length: int) -> tuple[NDArray[np.int32], int]:
    numbers, end = read_array(body, start, length)
    if not numbers.all():
        raise ValueError("a posting list does not rise or is empty")
    return numbers, end


def _below(limit: int, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the numbers, which damage may have driven over the limit, or even around."""
    import numpy as np

    if (largest := numbers.view(np.uint32).max()) >= limit:
        raise ValueError(f"a posting list names document or position {largest} of {limit}")
    return numbers
