"""Reads posting lists with numpy, for a query: one list, or the lists of a word in all segments at once.

bulk_lists.py reads the lists of thousands of terms of a segment. A call of numpy takes about as long as
reading a short list; so lists that are read together take a fraction of the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.ragged import indices_of, starts_of
from crawlctl.pipeline.index.segment.postings.number_arrays import read_array, read_arrays
from crawlctl.pipeline.index.segment.postings.plain_lists import ALIKE, documents_body, positions_body
from crawlctl.pipeline.index.segment.postings.posting_arrays import risen
from crawlctl.pipeline.index.segment.postings.short_numbers import MAX_NUMBER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.arrays.array_types import BoolArray, Int32Array, Int64Array, Octets


def documents_array(
    section: bytes, count: int, documents: int = MAX_NUMBER + 1
) -> tuple[Int32Array, Octets, Octets]:
    """Return ordinals, impacts and masks, as `decode_documents` does; raise ValueError on damage."""
    body = np.frombuffer(documents_body(section, count), np.uint8)
    gaps, impacts_at = read_array(body, 0, count)
    masks_at = impacts_at + count
    alike = section[0] & ALIKE
    if not gaps.all() or len(body) != masks_at + (1 if alike else count):
        raise ValueError(f"a posting list of {count} documents is cut off or does not rise")
    ordinals = np.cumsum(gaps, dtype=np.int64)
    if ordinals[-1] > documents:
        raise ValueError(f"a posting list names document {ordinals[-1] - 1} of {documents}")
    masks = np.repeat(body[masks_at:], count) if alike else body[masks_at:]
    return (ordinals - 1).astype(np.int32), body[impacts_at:masks_at], masks


def positions_array(section: bytes, count: int) -> tuple[Int32Array, Int32Array]:
    """Return the frequencies and, end to end, the positions in each document; raise ValueError on damage."""
    body = np.frombuffer(whole_positions(section, count), np.uint8)
    frequencies, start = np.ones(count, np.int32), 0
    if not section[0] & ALIKE:
        frequencies, start = read_array(body, 0, count)
    gaps, end = read_array(body, start, int(frequencies.sum(dtype=np.int64)))
    if not gaps.all() or not frequencies.all() or end != len(body):
        raise ValueError("the positions of a posting list do not rise or are too many")
    return frequencies, risen(gaps, frequencies).astype(np.int32)


def documents_arrays(
    sections: Sequence[bytes], counts: Int64Array, documents: Int64Array
) -> tuple[Int64Array, Octets, Octets]:
    """Return the same for several lists, end to end; `documents` says how many each of the segments has."""
    bodies = [documents_body(*pair) for pair in zip(sections, counts.tolist(), strict=True)]
    blob, base, ends = _joined(bodies)
    gaps, impacts_at = read_arrays(blob, base, counts, ends)
    masks_at = impacts_at + counts
    held = np.where(_are_alike(sections), 1, counts)
    if not gaps.all() or (masks_at + held != ends).any():
        raise ValueError("a posting list is cut off or does not rise")
    ordinals = risen(gaps, counts)
    if (ordinals[counts.cumsum() - 1] >= documents).any():
        raise ValueError("a posting list names a document that its segment does not have")
    masks = blob[indices_of(masks_at, held)].repeat((counts // held).repeat(held))
    return ordinals, blob[indices_of(impacts_at, counts)], masks


def positions_arrays(sections: Sequence[bytes], counts: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return the frequencies of several lists end to end, and their positions."""
    bodies = [whole_positions(*pair) for pair in zip(sections, counts.tolist(), strict=True)]
    blob, starts, ends = _joined(bodies)
    several = ~_are_alike(sections)
    frequencies = np.ones(int(counts.sum()), np.int64)
    if several.any():
        found, starts[several] = read_arrays(blob, starts[several], counts[several], ends[several])
        frequencies[several.repeat(counts)] = found
    if not frequencies.all():
        raise ValueError("a posting list has a document without positions")
    gaps, reached = read_arrays(blob, starts, np.add.reduceat(frequencies, starts_of(counts)), ends)
    if not gaps.all() or (reached != ends).any():
        raise ValueError("the positions of a posting list do not rise or are too many")
    return frequencies, risen(gaps, frequencies)


def _joined(bodies: Sequence[bytes]) -> tuple[Octets, Int64Array, Int64Array]:
    """Return the bodies end to end, with the start and the end of each."""
    lengths = np.array([len(body) for body in bodies])
    starts = starts_of(lengths)
    return np.frombuffer(b"".join(bodies), np.uint8), starts, starts + lengths


def _are_alike(sections: Sequence[bytes]) -> BoolArray:
    return np.array([bool(section[0] & ALIKE) for section in sections])


def whole_positions(section: bytes, count: int) -> bytes:
    """Return the inflated body of a positions section."""

    def total(start: bytes) -> int:
        return int(read_array(np.frombuffer(start, np.uint8), 0, count)[0].sum(dtype=np.int64))

    return positions_body(section, count, total)
