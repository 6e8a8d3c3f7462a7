"""The dictionary of all segments, in shards of about as many terms each.

Where shards begin is read off the sparse indexes of the segments, which every task that writes one finds the
same. A task holds a few blocks of terms of each segment.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from crawlctl.pipeline.arrays.byte_strings import last_above
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.index.segment.dictionary import write_dictionary
from crawlctl.pipeline.index.segment.segment_files import TERMS_DATA, TERMS_INDEX, segments_of
from crawlctl.pipeline.index.statistics import expected_shards

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

_READ_AHEAD = 256 << 10


def write_shard(
    store: Store, entries: Iterable[FileEntry], *, shard: int, shards: int, round_number: int
) -> tuple[FileEntry, ...]:
    """Write one of so many shards of the dictionary of all segments among these files."""
    segments = segments_of(entries)
    bounds = bounds_of(store, segments, shards)
    if shard > len(bounds):  # too few terms for so many shards
        return ()
    start = bounds[shard - 1] if shard else None
    stop = bounds[shard] if shard < len(bounds) else None
    return write_dictionary(
        store,
        [segment.name for segment in segments],
        [_terms(store, segment, start, stop) for segment in segments],
        round_number=round_number,
        shard=shard,
        bounds=bounds,
    )


def write_all(store: Store, entries: Iterable[FileEntry], round_number: int) -> tuple[FileEntry, ...]:
    """Write the whole dictionary of all segments among these files; where there are none, no files."""
    files = tuple(entries)
    if not segments_of(files):
        return ()
    shards = expected_shards(files)
    return tuple(
        chain.from_iterable(
            write_shard(store, files, shard=shard, shards=shards, round_number=round_number)
            for shard in range(shards)
        )
    )


def bounds_of(store: Store, segments: Sequence[Segment], shards: int) -> list[bytes]:
    """Return the terms that shards begin with, from the second one on."""
    if shards < 2:
        return []
    sample = sorted(chain.from_iterable(_sparse(store, segment) for segment in segments))
    cuts = {sample[len(sample) * shard // shards] for shard in range(1, shards)} if sample else set()
    return sorted(cuts)


def _sparse(store: Store, segment: Segment) -> Iterator[bytes]:
    for term, _ in SequenceFileReader(segment.open(store, TERMS_INDEX)):
        yield term


def _terms(
    store: Store, segment: Segment, start: bytes | None, stop: bytes | None
) -> Iterator[tuple[ByteStrings, ByteStrings]]:
    """Yield the terms of a segment in a range with their places; those out of order are a CorruptFile."""
    data = segment.open(store, TERMS_DATA)
    reader = MapFileReader(data, segment.open(store, TERMS_INDEX), read_ahead=_READ_AHEAD)
    last = None
    for terms, places in reader.strings(start, stop):
        try:
            last = last_above(last, terms)
        except ValueError as err:
            raise CorruptFile(data.name, 0, str(err)) from err
        yield terms, places
