"""A posting list: in which documents a term stands, how often, and at which positions.

    head         1 byte: from the low bits up, two each, the bytes of the count (1–3), the planes of
                 gaps (1–3), of frequencies (0–3) and of positions (1–3)
    count        the number of documents, little-endian
    gaps         each ordinal less the one before it less 1; the first as it is
    frequencies  the occurrences in each document less 1
    positions    each position less the one before it in the same document less 1; a document's first as it is

Numbers lie in planes: the low bytes of all of them, then the middle bytes, then the high ones; planes of
nothing but zeros are left out. Plain Python turns a plane into numbers without a loop, and numpy reads and
writes thousands of lists at a time, as a merge does that concatenates the lists of a term and shifts their
ordinals. What a large number costs all others of its list, the block compression of the file takes back.
Gaps less 1 cannot run backwards, and a byte at least for each gap and position bounds what damage can claim.
Impacts are not stored: they depend on the average lengths of all documents, which only a merge knows.
"""

from __future__ import annotations

import sys
from functools import cached_property
from itertools import accumulate, count, pairwise
from operator import add
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

MAX_NUMBER = (1 << 24) - 1  # of ordinals and positions: three planes


class PostingList:
    """A list as plain Python reads it; positions, which only phrases ask for, are decoded when asked for."""

    def __init__(self, documents: list[int], frequencies: list[int], packed_positions: Sequence[int]) -> None:
        self.documents = documents
        self.frequencies = frequencies
        self._packed_positions = packed_positions

    @cached_property
    def positions(self) -> list[list[int]]:
        """The positions in each document, rising."""
        risen = list(map(add, accumulate(self._packed_positions), count(1)))
        bounds = list(accumulate(self.frequencies, initial=0))
        bases = [0, *(risen[end - 1] for end in bounds[1:])]
        return [
            [place - base - 1 for place in risen[start:end]]
            for base, (start, end) in zip(bases, pairwise(bounds), strict=False)
        ]


class Lists(NamedTuple):
    """Many lists as numpy holds them, end to end: `counts` says how many documents each has."""

    counts: Integers
    documents: Integers
    frequencies: Integers
    positions: Integers


def decode_list(value: bytes, documents: int) -> PostingList:
    """Return the list packed in `value`, of a run of so many documents; damage is a ValueError."""
    head = value[0] if value else 0
    width, gap_planes, frequency_planes, position_planes = (head >> shift & 3 for shift in (0, 2, 4, 6))
    listed = int.from_bytes(value[1 : 1 + width], "little")
    frequencies_at = 1 + width + gap_planes * listed
    positions_at = frequencies_at + frequency_planes * listed
    if not (width and gap_planes and position_planes and listed and positions_at < len(value)):
        raise ValueError("a posting list is cut off or has no documents")
    frequencies = [more + 1 for more in _numbers(value, frequencies_at, listed, frequency_planes)]
    occurrences = sum(frequencies)
    if len(value) != positions_at + position_planes * occurrences:
        raise ValueError(f"a posting list of {occurrences} occurrences has {len(value)} bytes")
    ordinals = list(map(add, accumulate(_numbers(value, 1 + width, listed, gap_planes)), count()))
    if ordinals[-1] >= documents:
        raise ValueError(f"a posting list names document {ordinals[-1]} of {documents}")
    return PostingList(ordinals, frequencies, _numbers(value, positions_at, occurrences, position_planes))


def _numbers(value: bytes, start: int, length: int, planes: int) -> Sequence[int]:
    if planes < 2:
        return value[start : start + length] if planes else bytes(length)
    width = 2 if planes == 2 else 4
    woven = bytearray(width * length)
    for plane in range(planes):
        place = plane if sys.byteorder == "little" else width - 1 - plane
        woven[place::width] = value[start + plane * length : start + (plane + 1) * length]
    return memoryview(woven).cast("H" if width == 2 else "I")


def encode_lists(lists: Lists) -> list[bytes]:
    """Return the bytes of each list; numbers that do not rise or are too large are a ValueError."""
    import numpy as np

    counts = lists.counts
    if not len(counts):
        return []
    if counts.min() < 1:
        raise ValueError("a posting list without documents; leave its term out")
    starts = _starts(counts)
    occurrences = np.add.reduceat(lists.frequencies, starts)
    columns = (
        (_gaps(lists.documents, starts), counts, 1),
        (lists.frequencies - 1, counts, 0),
        (_gaps(lists.positions, _starts(lists.frequencies)), occurrences, 1),
    )
    planes = [np.maximum(_planes(numbers, lengths), least) for numbers, lengths, least in columns]
    widths = 1 + (counts > 0xFF) + (counts > 0xFFFF)
    ends = np.cumsum(1 + widths + counts * (planes[0] + planes[1]) + occurrences * planes[2])
    blob = np.zeros(ends[-1], np.uint8)
    start = _starts(ends, cumulative=True)
    blob[start] = widths | planes[0] << 2 | planes[1] << 4 | planes[2] << 6
    _scatter(blob, start + 1, counts, np.ones_like(counts), widths)
    base = start + 1 + widths
    for (numbers, lengths, _), used in zip(columns, planes, strict=True):
        _scatter(blob, base, numbers, lengths, used)
        base = base + lengths * used
    data, bounds = blob.tobytes(), [0, *ends.tolist()]
    return [data[first:last] for first, last in pairwise(bounds)]


def decode_lists(values: Sequence[bytes], documents: int) -> Lists:
    """Return the lists packed in these values, as `decode_list` does for one; damage is a ValueError."""
    import numpy as np

    sizes = np.fromiter(map(len, values), np.int64, len(values))
    blob = np.frombuffer(b"".join(values), np.uint8)
    if not len(values):
        return Lists(*(np.zeros(0, np.int64),) * 4)
    start = _starts(sizes)
    head = blob[np.minimum(start, len(blob) - 1)].astype(np.int64) if len(blob) else np.zeros_like(start)
    widths, gap_planes, frequency_planes, position_planes = (head >> shift & 3 for shift in (0, 2, 4, 6))
    _demand((widths > 0) & (gap_planes > 0) & (position_planes > 0) & (sizes > 1 + widths), "is cut off")
    counts = _gather(blob, start + 1, np.ones_like(start), widths)
    base = start + 1 + widths
    left = sizes - 1 - widths - counts * (gap_planes + frequency_planes)
    _demand((counts > 0) & (left > 0), "is cut off or has no documents")
    frequencies = _gather(blob, base + counts * gap_planes, counts, frequency_planes) + 1
    starts = _starts(counts)
    occurrences = np.add.reduceat(frequencies, starts)
    _demand(left == occurrences * position_planes, "has too few or too many bytes")
    ordinals = _risen(_gather(blob, base, counts, gap_planes), starts, counts)
    _demand(ordinals[starts + counts - 1] < documents, f"names more than {documents} documents")
    packed = _gather(blob, start + sizes - left, occurrences, position_planes)
    return Lists(counts, ordinals, frequencies, _risen(packed, _starts(frequencies), frequencies))


def _demand(sound: NDArray[np.bool_], otherwise: str) -> None:
    if not sound.all():
        raise ValueError(f"a posting list {otherwise}")


def _starts(lengths: Integers, *, cumulative: bool = False) -> Integers:
    """Return where stretches of these lengths (or with these ends) begin."""
    import numpy as np

    starts = np.zeros_like(lengths)
    starts[1:] = lengths[:-1] if cumulative else np.cumsum(lengths[:-1])
    return starts


def _gaps(numbers: Integers, starts: Integers) -> Integers:
    import numpy as np

    gaps = np.empty_like(numbers)
    np.subtract(numbers[1:], numbers[:-1] + 1, out=gaps[1:])
    gaps[starts] = numbers[starts]
    return gaps


def _risen(gaps: Integers, starts: Integers, lengths: Integers) -> Integers:
    """Return the numbers that `_gaps` was given."""
    import numpy as np

    risen = np.cumsum(gaps + 1)
    before = risen[starts] - gaps[starts]
    risen -= np.repeat(before, lengths)
    return risen


def _planes(numbers: Integers, lengths: Integers) -> Integers:
    """Return how many planes each stretch of numbers needs."""
    import numpy as np

    largest = np.maximum.reduceat(numbers, _starts(lengths))
    if numbers.min() < 0 or largest.max() > MAX_NUMBER:
        raise ValueError(f"ordinals or positions do not rise or exceed {MAX_NUMBER}; write smaller runs")
    planes: Integers = (largest > 0).astype(np.int64) + (largest > 0xFF) + (largest > 0xFFFF)
    return planes


def _scatter(
    blob: NDArray[np.uint8], base: Integers, numbers: Integers, lengths: Integers, planes: Integers
) -> None:
    """Put each stretch of numbers behind its base, plane by plane."""
    import numpy as np

    for plane in range(int(planes.max())):
        places = _places(base + plane * lengths, lengths)
        octets = (numbers >> 8 * plane).astype(np.uint8)
        if planes.min() <= plane:
            used = np.repeat(planes > plane, lengths)
            places, octets = places[used], octets[used]
        blob[places] = octets


def _gather(blob: NDArray[np.uint8], base: Integers, lengths: Integers, planes: Integers) -> Integers:
    """Return the numbers that `_scatter` has put there."""
    import numpy as np

    numbers = np.zeros(int(lengths.sum()), np.int64)
    for plane in range(int(planes.max())):
        places = _places(base + plane * lengths, lengths)
        if planes.min() > plane:
            numbers |= blob[places].astype(np.int64) << 8 * plane
        else:
            used = np.repeat(planes > plane, lengths)
            numbers[used] |= blob[places[used]].astype(np.int64) << 8 * plane
    return numbers


def _places(base: Integers, lengths: Integers) -> Integers:
    import numpy as np

    places: Integers = np.repeat(base - _starts(lengths), lengths)
    places += np.arange(len(places))
    return places
