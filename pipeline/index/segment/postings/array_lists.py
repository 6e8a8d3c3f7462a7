"""Reads one posting list of a segment with numpy, for a query; bulk_lists.py reads many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.index.segment.postings.number_arrays import read_array
from crawlctl.pipeline.index.segment.postings.plain_lists import ALIKE, documents_body, positions_body
from crawlctl.pipeline.index.segment.postings.posting_arrays import risen
from crawlctl.pipeline.index.segment.postings.short_numbers import MAX_NUMBER

if TYPE_CHECKING:
    from crawlctl.pipeline.arrays.array_types import Int32Array, Octets


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


def whole_positions(section: bytes, count: int) -> bytes:
    """Return the inflated body of a positions section."""

    def total(start: bytes) -> int:
        return int(read_array(np.frombuffer(start, np.uint8), 0, count)[0].sum(dtype=np.int64))

    return positions_body(section, count, total)
