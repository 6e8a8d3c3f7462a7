"""Packs posting lists for a segment, thousands at a time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from isal import isal_zlib

from crawlctl.pipeline.index.lists import ALIKE, DEFLATED, RAW_DEFLATE_BITS, PackedList
from crawlctl.pipeline.index.planes import places_of, starts_of
from crawlctl.pipeline.index.postings import gaps_of
from crawlctl.pipeline.index.short_numbers import NumbersWriter

if TYPE_CHECKING:
    from crawlctl.pipeline.index.planes import Integers, Octets
    from crawlctl.pipeline.index.postings import Lists

# A part of so many bytes is deflated: from 64 on, all lists took 2 % less room and half as long again.
DEFLATE_FROM = 256

_LEVEL = 1


def encode_segment_lists(lists: Lists, impacts: Octets, masks: Octets) -> list[PackedList]:
    """Return the parts of each list; `impacts` and `masks` have a byte for each document of each list."""
    counts = lists.counts
    if not len(counts):
        return []
    if counts.min() < 1 or lists.frequencies.min() < 1:
        raise ValueError("a posting list without documents or positions; leave its term out")
    starts = starts_of(counts)
    largest = np.maximum.reduceat(impacts, starts)
    documents = _documents(lists, starts, impacts, masks)
    return list(map(PackedList, counts.tolist(), largest.tolist(), documents, _positions(lists, starts)))


def _documents(lists: Lists, starts: Integers, impacts: Octets, masks: Octets) -> list[bytes]:
    counts = lists.counts
    gaps = NumbersWriter(gaps_of(lists.documents, starts), counts, starts)
    alike = np.maximum.reduceat(masks, starts) == np.minimum.reduceat(masks, starts)
    mask_counts = np.where(alike, 1, counts)
    blob, base = _blob(1 + gaps.sizes + counts + mask_counts)
    blob[base] = np.where(alike, ALIKE, 0)
    gaps.write(blob, base + 1)
    impacts_at = base + 1 + gaps.sizes
    blob[places_of(impacts_at, counts)] = impacts
    blob[places_of(impacts_at + counts, mask_counts)] = masks[places_of(starts, mask_counts)]
    return _parts(blob, base)


def _positions(lists: Lists, starts: Integers) -> list[bytes]:
    frequencies, counts = lists.frequencies, lists.counts
    once = np.maximum.reduceat(frequencies, starts) == 1
    kept_counts = np.where(once, 0, counts)
    kept = frequencies[np.repeat(~once, counts)]
    held = NumbersWriter(kept, kept_counts, starts_of(kept_counts))
    occurrences = np.add.reduceat(frequencies, starts)
    gaps = NumbersWriter(
        gaps_of(lists.positions, starts_of(frequencies)), occurrences, starts_of(occurrences)
    )
    blob, base = _blob(1 + held.sizes + gaps.sizes)
    blob[base] = np.where(once, ALIKE, 0)
    held.write(blob, base + 1)
    gaps.write(blob, base + 1 + held.sizes)
    return _parts(blob, base)


def _blob(sizes: Integers) -> tuple[Octets, Integers]:
    """Return room for parts of these sizes, and where each begins."""
    return np.empty(int(sizes.sum()), np.uint8), starts_of(sizes)


def _parts(blob: Octets, base: Integers) -> list[bytes]:
    data = blob.tobytes()
    parts = [data[start:end] for start, end in pairwise([*base.tolist(), len(data)])]
    for place in np.flatnonzero(np.diff(base, append=len(data)) >= DEFLATE_FROM).tolist():
        parts[place] = _deflated(parts[place])
    return parts


def _deflated(part: bytes) -> bytes:
    """Return the part with its body deflated, if that takes less room."""
    body = isal_zlib.compress(memoryview(part)[1:], _LEVEL, RAW_DEFLATE_BITS)
    return bytes((part[0] | DEFLATED,)) + body if len(body) < len(part) - 1 else part
