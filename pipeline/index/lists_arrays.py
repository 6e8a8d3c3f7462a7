"""Reads the posting lists of a segment with numpy: one for a query, thousands at a time for a merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.formats.stretches import starts_of
from crawlctl.pipeline.index.lists import ALIKE, documents_body, positions_body
from crawlctl.pipeline.index.planes import MAX_NUMBER
from crawlctl.pipeline.index.postings import Lists, risen
from crawlctl.pipeline.index.short_numbers import read_array, read_arrays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.index.lists import PackedList
    from crawlctl.pipeline.index.planes import Integers, Octets

    Numbers = NDArray[np.int32]


def documents_array(
    part: bytes, count: int, documents: int = MAX_NUMBER + 1
) -> tuple[Numbers, Octets, Octets]:
    """Return ordinals, impacts and masks, as `decode_documents` does; damage is a ValueError."""
    body = np.frombuffer(documents_body(part, count), np.uint8)
    gaps, impacts_at = read_array(body, 0, count)
    masks_at = impacts_at + count
    alike = part[0] & ALIKE
    if not gaps.all() or len(body) != masks_at + (1 if alike else count):
        raise ValueError(f"a posting list of {count} documents is cut off or does not rise")
    ordinals = np.cumsum(gaps, dtype=np.int64)
    if ordinals[-1] > documents:
        raise ValueError(f"a posting list names document {ordinals[-1] - 1} of {documents}")
    masks = np.repeat(body[masks_at:], count) if alike else body[masks_at:]
    return (ordinals - 1).astype(np.int32), body[impacts_at:masks_at], masks


def positions_array(part: bytes, count: int) -> tuple[Numbers, Numbers]:
    """Return the frequencies and, end to end, the positions in each document; damage is a ValueError."""
    body = np.frombuffer(_positions_body(part, count), np.uint8)
    frequencies, start = np.ones(count, np.int32), 0
    if not part[0] & ALIKE:
        frequencies, start = read_array(body, 0, count)
    gaps, end = read_array(body, start, int(frequencies.sum(dtype=np.int64)))
    if not gaps.all() or not frequencies.all() or end != len(body):
        raise ValueError("the positions of a posting list do not rise or are too many")
    return frequencies, risen(gaps, frequencies).astype(np.int32)


def decode_segment_lists(packed: Sequence[PackedList], documents: int = MAX_NUMBER + 1) -> Lists:
    """Return the documents and positions of many lists of a segment; damage is a ValueError."""
    counts = np.fromiter((part.count for part in packed), np.int64, len(packed))
    if not len(counts):
        return Lists(*(np.zeros(0, np.int64),) * 4)
    ordinals = _many_documents(packed, counts)
    if ordinals[np.cumsum(counts) - 1].max() >= documents:
        raise ValueError(f"a posting list names more than {documents} documents")
    return Lists(counts, ordinals, *_many_positions(packed, counts))


def _many_documents(packed: Sequence[PackedList], counts: Integers) -> Integers:
    bodies = [documents_body(part.documents, part.count) for part in packed]
    blob, starts, ends = _joined(bodies)
    gaps, impacts_at = read_arrays(blob, starts, counts, ends)
    alike = np.fromiter((part.documents[0] & ALIKE for part in packed), np.int64, len(packed))
    _demand(gaps > 0)
    _demand(impacts_at + counts + np.where(alike, 1, counts) == ends)
    return risen(gaps, counts)


def _many_positions(packed: Sequence[PackedList], counts: Integers) -> tuple[Integers, Integers]:
    bodies = [_positions_body(part.positions, part.count) for part in packed]
    blob, starts, ends = _joined(bodies)
    alike = np.fromiter((part.positions[0] & ALIKE for part in packed), np.bool_, len(packed))
    frequencies = np.ones(int(counts.sum()), np.int64)
    several = np.repeat(~alike, counts)
    frequencies[several], starts[~alike] = read_arrays(blob, starts[~alike], counts[~alike], ends[~alike])
    _demand(frequencies > 0)
    occurrences = np.add.reduceat(frequencies, starts_of(counts))
    gaps, found = read_arrays(blob, starts, occurrences, ends)
    _demand(gaps > 0)
    _demand(found == ends)
    return frequencies, risen(gaps, frequencies)


def _positions_body(part: bytes, count: int) -> bytes:
    def total(start: bytes) -> int:
        return int(read_array(np.frombuffer(start, np.uint8), 0, count)[0].sum(dtype=np.int64))

    return positions_body(part, count, total)


def _joined(bodies: Sequence[bytes]) -> tuple[Octets, Integers, Integers]:
    """Return the bodies end to end, and where each begins and ends."""
    sizes = np.fromiter(map(len, bodies), np.int64, len(bodies))
    return np.frombuffer(b"".join(bodies), np.uint8), starts_of(sizes), np.cumsum(sizes)


def _demand(sound: NDArray[np.bool_]) -> None:
    if not sound.all():
        raise ValueError("a posting list does not rise, or has bytes that do not fit its numbers")
