"""Interleaves the posting lists of large segments of a remote store, so that a word is one request.

The driver calls it when it writes the compound file. The lists are cut into slices of terms: a slice ends
where a segment has some kilobytes of lists, and a long list is a slice of its own.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate, chain
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.index.segment.interleaved_lists import write_interleaved
from crawlctl.pipeline.index.segment.postings.list_writer import LONG_INFO
from crawlctl.pipeline.index.segment.segment_files import POSTINGS, TERMS_DATA, TERMS_INDEX
from crawlctl.pipeline.search.evaluate.list_reads import INTERLEAVED_GAP_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.arrays.array_types import Int64Array
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Lists = tuple[list[bytes], list[int], int]  # the terms, the offset of the list of each, and their end

# The driver holds all lists in memory. In a crawl of more than some 70,000 pages the largest segments are
# left out, and a query asks them one by one.
MAX_LISTS_BYTES = 128 << 20

_SLICE_BYTES = INTERLEAVED_GAP_BYTES // 4
_SEGMENTS = 16  # of more segments slices are longer, so that the table of all slices stays below some MB
_READ_AHEAD = 256 << 10


def affordable(segments: Sequence[Segment]) -> list[Segment]:
    """Return the segments with the fewest bytes of lists, as many as may be interleaved."""
    by_size = sorted(segments, key=lambda segment: segment.entries[POSTINGS].bytes)
    sums = accumulate(segment.entries[POSTINGS].bytes for segment in by_size)
    return [segment for segment, total in zip(by_size, sums, strict=True) if total <= MAX_LISTS_BYTES]


def interleave(store: Store, segments: Sequence[Segment], *, round_number: int) -> FileEntry:
    """Write the posting lists of some segments slice by slice."""
    lists = [_lists_of(store, segment) for segment in segments]
    most = _SLICE_BYTES * max(1, len(segments) // _SEGMENTS)
    cuts = sorted(set(chain.from_iterable(_cuts(some, most) for some in lists)))
    starts = [_starts(some, cuts) for some in lists]
    return write_interleaved(store, segments, starts, round_number=round_number)


def _lists_of(store: Store, segment: Segment) -> Lists:
    """Return the terms of a segment whose lists lie in its `postings`, in byte order, and where they lie."""
    data, index = segment.open(store, TERMS_DATA), segment.open(store, TERMS_INDEX)
    terms: list[bytes] = []
    offsets: list[int] = []
    for some, infos in MapFileReader(data, index, read_ahead=_READ_AHEAD).strings(None, None):
        # The other lists are short, and in the dictionary.
        chosen = np.flatnonzero(infos.octets[infos.starts] == 0)
        terms += some.take(chosen).tolist()
        offsets += _offsets(infos.octets, infos.starts[chosen]).tolist()
    return terms, offsets, segment.open(store, POSTINGS).size


def _offsets(octets: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], starts: Int64Array) -> Int64Array:
    """Return the offsets in the term infos that begin at some bytes."""
    packed = octets[starts[:, None] + np.arange(LONG_INFO.itemsize)]
    found: Int64Array = packed.reshape(-1).view(LONG_INFO)["offset"].astype(np.int64)
    return found


def _cuts(lists: Lists, most: int) -> Iterator[bytes]:
    """Yield the terms with which a slice has to begin because of the lists of one segment.

    A segment has at most `most` bytes in a slice, but for a long list. All segments cut, so a slice has about
    this many bytes of all of them together.
    """
    terms, offsets, end = lists
    if not terms:
        return
    bounds = np.array([*offsets, end], np.int64)
    is_long = np.diff(bounds) >= most
    slices = bounds[:-1] // most
    begins = np.diff(slices, prepend=-1) > 0
    begins |= is_long
    begins[1:] |= is_long[:-1]
    yield from (terms[index] for index in np.flatnonzero(begins).tolist())


def _starts(lists: Lists, cuts: Sequence[bytes]) -> list[int]:
    """Return the offset of the first list of each slice in a segment, and the end of the last."""
    terms, offsets, end = lists
    bounds = [*offsets, end]
    return [*(bounds[bisect_left(terms, cut)] for cut in cuts), end]
