"""Writes a layer of the dictionary, in shards of about the same number of terms, and its word tables.

Each task that writes a shard finds the same bounds, since they are taken from the sparse indexes of the
segments. A task holds a few blocks of terms of each segment.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from crawlctl.pipeline.arrays.byte_strings import ByteStrings, big_endian, chained, last_above, strings_of
from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.arrays.sorted_merge import merge_sorted, number_strings
from crawlctl.pipeline.errors import StoreError, damage_in
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader, MapFileWriter
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.index.segment.dictionary import SEGMENT_NUMBER_BYTES, SEGMENTS_KEY, SHARDS_KEY
from crawlctl.pipeline.index.segment.dictionary_layers import FIRST_LAYER, layer_counters
from crawlctl.pipeline.index.segment.segment_files import TERMS_DATA, TERMS_INDEX, segments_of
from crawlctl.pipeline.index.statistics import shards_for
from crawlctl.pipeline.index.words.counted_words import CountedWords
from crawlctl.pipeline.index.words.word_table import MAX_WORDS, write_words
from crawlctl.pipeline.state.kinds import DICTIONARY
from crawlctl.pipeline.state.layout import DATA, INDEX, KIND_KEY, data_name
from crawlctl.pipeline.state.manifest import file_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crawlctl.pipeline.arrays.sorted_merge import Taken
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Terms = Iterator[tuple[ByteStrings, ByteStrings]]  # terms in byte order, with their term infos

MAX_SEGMENTS = 1 << 8 * SEGMENT_NUMBER_BYTES
TERMS_AT_ONCE = 1 << 16

# Small, because a look-up decompresses a block. With 32 kB the file would be 5 % smaller, and a look-up of
# a word that was not asked for before would take more than twice as long.
_BLOCK_BYTES = 8 << 10
_READ_AHEAD = 256 << 10


def write_all(store: Store, entries: Iterable[FileEntry], round_number: int) -> tuple[FileEntry, ...]:
    """Write the dictionary of all segments as one layer; without segments there are no files."""
    segments = segments_of(entries)
    if not segments:
        return ()
    shards = shards_for(sum(segment.terms for segment in segments))
    return tuple(
        chain.from_iterable(
            write_shard(store, segments, shard=shard, shards=shards, round_number=round_number)
            for shard in range(shards)
        )
    )


def write_shard(
    store: Store,
    segments: Sequence[Segment],
    *,
    shard: int,
    shards: int,
    round_number: int,
    layer: int = FIRST_LAYER,
    counters: Mapping[str, int] | None = None,
) -> tuple[FileEntry, ...]:
    """Write shard number `shard` of `shards` of the layer with these segments.

    The first shard gets more counters, if there are any.
    """
    bounds = bounds_of(store, segments, shards)
    if shard > len(bounds):  # there are fewer terms than shards
        return ()
    start = bounds[shard - 1] if shard else None
    stop = bounds[shard] if shard < len(bounds) else None
    return write_terms_of_shard(
        store,
        {segment.name: segment.terms for segment in segments},
        [_terms(store, segment, start, stop) for segment in segments],
        round_number=round_number,
        shard=shard,
        bounds=bounds,
        layer=layer,
        counters={} if shard else counters,
    )


def bounds_of(store: Store, segments: Sequence[Segment], shards: int) -> list[bytes]:
    """Return the first term of each shard, from the second shard on."""
    if shards < 2:
        return []
    sample = sorted(chain.from_iterable(_sparse(store, segment) for segment in segments))
    cuts = {sample[len(sample) * shard // shards] for shard in range(1, shards)} if sample else set()
    return sorted(cuts)


def write_terms_of_shard(
    store: Store,
    segments: Mapping[str, int],
    terms: Sequence[Terms],
    *,
    round_number: int,
    shard: int = 0,
    bounds: Sequence[bytes] = (),
    layer: int = FIRST_LAYER,
    counters: Mapping[str, int] | None = None,
) -> tuple[FileEntry, ...]:
    """Write a shard from the terms that each segment has in its range.

    `segments` are the numbers of terms that the segments have in all shards. `bounds` are the first terms of
    all shards but the first; every shard has the same in its header.
    """
    if len(segments) > MAX_SEGMENTS:
        raise StoreError(f"the index has {len(segments)} segments; merge them with `crawlctl merge --full`")
    name = data_name(DICTIONARY, shard, round_number)
    words = CountedWords()
    metadata = {
        KIND_KEY: DICTIONARY,
        SEGMENTS_KEY: msgspec.json.encode(list(segments)).decode(),
        SHARDS_KEY: msgspec.json.encode([term.decode() for term in bounds]).decode(),
    }
    with (
        store.write(f"{name}/{DATA}") as data,
        store.write(f"{name}/{INDEX}") as index,
        MapFileWriter(data, index, metadata=metadata, block_bytes=_BLOCK_BYTES) as dictionary,
    ):
        for keys, values in merge_terms(terms):
            dictionary.extend_strings(keys, values)
            words.add(keys, values)
    counted = {**layer_counters(layer, {} if shard else segments), **(counters or {})}
    return (
        file_entry(data, DICTIONARY, shard, dictionary.records, counted),
        file_entry(index, DICTIONARY, shard, counters=layer_counters(layer, {})),
        write_words(store, name, shard, words.documents, limit=MAX_WORDS // (len(bounds) + 1), layer=layer),
    )


def merge_terms(segments: Sequence[Terms]) -> Terms:
    """Yield the terms of all segments in byte order, each with its value in the dictionary."""
    for taken in merge_sorted(segments, len, _HeldValues, TERMS_AT_ONCE):
        yield _joined(taken)


class _HeldValues:
    """The term infos of terms; their size is their number."""

    def __init__(self, found: Sequence[ByteStrings]) -> None:
        self._values = chained(found) if found else strings_of([])
        self.ends = np.arange(len(self._values) + 1)

    def between(self, start: int, stop: int) -> ByteStrings:
        """Return the term infos with an index from `start` on and below `stop`."""
        return self._values.between(start, stop)


def _joined(taken: Sequence[Taken[ByteStrings]]) -> tuple[ByteStrings, ByteStrings]:
    """Return the terms in order; the value of each has its term infos by number of the segment."""
    terms, numbers = number_strings(taken)
    of_terms = np.concatenate(numbers)
    order = np.argsort(of_terms, kind="stable")  # the segments come in the order of their numbers
    infos = chained([one.columns for one in taken]).take(order)
    octets, starts = infos.laid_out(before=SEGMENT_NUMBER_BYTES)
    segments = np.repeat([one.source for one in taken], [len(one.strings) for one in taken])[order]
    for number, column in enumerate(big_endian(segments, SEGMENT_NUMBER_BYTES).T):
        octets[starts + (number - SEGMENT_NUMBER_BYTES)] = column
    firsts = starts_of(np.bincount(of_terms))
    lengths = np.add.reduceat(infos.lengths + SEGMENT_NUMBER_BYTES, firsts)
    return terms, ByteStrings(octets, starts[firsts] - SEGMENT_NUMBER_BYTES, lengths)


def _sparse(store: Store, segment: Segment) -> Iterator[bytes]:
    for term, _ in SequenceFileReader(segment.open(store, TERMS_INDEX)):
        yield term


def _terms(store: Store, segment: Segment, start: bytes | None, stop: bytes | None) -> Terms:
    """Yield the terms of a segment in a range; raise CorruptFile if they are out of order."""
    data = segment.open(store, TERMS_DATA)
    reader = MapFileReader(data, segment.open(store, TERMS_INDEX), read_ahead=_READ_AHEAD)
    last = None
    for terms, infos in reader.strings(start, stop):
        with damage_in(data.name):
            last = last_above(last, terms)
        yield terms, infos
