"""The dictionary: for each term of the index the places of its lists in all segments.

A MapFile a shard; the shards are ranges of terms. The value of a term is, for each segment that has it, the
number of the segment (2 bytes, big-endian) and the place of the list there (segment_terms.py). The header
says which segment has which number, and where shards begin. Blocks are small, for a look-up inflates one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile, StoreError
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader, MapFileWriter
from crawlctl.pipeline.index.runs.run_files import file_entry
from crawlctl.pipeline.index.segment.segment_files import EntrySource
from crawlctl.pipeline.index.segment.term_info import decode_place
from crawlctl.pipeline.state.kinds import DICTIONARY
from crawlctl.pipeline.state.layout import DATA, INDEX, KIND_KEY, data_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.segment.term_info import TermPlace
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

SEGMENTS_KEY = "crawlctl.segments"  # in the header: the names of the segments by their numbers
SHARDS_KEY = "crawlctl.shards"  # in the header: the terms that shards begin with, from the second shard on
BLOCK_BYTES = 32 << 10
MAX_SEGMENTS = 1 << 16

NUMBER_BYTES = 2


def write_dictionary(
    store: Store,
    segments: Sequence[str],
    terms: Sequence[Iterable[tuple[ByteStrings, ByteStrings]]],
    *,
    round_number: int,
    shard: int = 0,
    bounds: Sequence[bytes] = (),
) -> tuple[FileEntry, ...]:
    """Write a shard from the terms of all segments: term and place in byte order, those of the shard only.

    `bounds` are the terms that the shards but the first begin with, the same for all of them.
    """
    from crawlctl.pipeline.index.merge.dictionary_merge import merged

    if len(segments) > MAX_SEGMENTS:
        raise StoreError(f"the index has {len(segments)} segments; merge them with `crawlctl merge --full`")
    name = data_name(DICTIONARY, shard, round_number)
    metadata = {
        KIND_KEY: DICTIONARY,
        SEGMENTS_KEY: msgspec.json.encode(list(segments)).decode(),
        SHARDS_KEY: msgspec.json.encode([term.decode() for term in bounds]).decode(),
    }
    with (
        store.write(f"{name}/{DATA}") as data,
        store.write(f"{name}/{INDEX}") as index,
        MapFileWriter(data, index, metadata=metadata, block_bytes=BLOCK_BYTES) as dictionary,
    ):
        for keys, values in merged(terms):
            dictionary.extend_strings(keys, values)
    return (file_entry(data, DICTIONARY, shard, dictionary.records), file_entry(index, DICTIONARY, shard))


def decode_places(value: bytes) -> list[TermPlace]:
    """Return the places in the value of a term; damage is a ValueError."""
    places: list[TermPlace] = []
    at = 0
    while at < len(value):
        segment = int.from_bytes(value[at : at + NUMBER_BYTES], "big")
        place, at = decode_place(value, at + NUMBER_BYTES, segment)
        places.append(place)
    return places


class Dictionary:
    """All shards of a dictionary; a damaged one is a CorruptFile.

    Of a shard the header and the sparse index are read once, when first needed; then a look-up reads a block.
    """

    def __init__(self, store: Store, entries: Iterable[FileEntry]) -> None:
        named = {entry.name: entry for entry in entries if entry.kind == DICTIONARY}
        data = [entry for entry in named.values() if entry.name.endswith(f"/{DATA}")]
        data.sort(key=lambda entry: entry.partition)
        self.terms = sum(entry.records for entry in data)
        self._names = [store.locate(entry.name) for entry in data]
        self._shards = [_open(store, named, entry) for entry in data]

    @cached_property
    def segments(self) -> list[str]:
        """The names of the segments by their numbers."""
        return self._listed(SEGMENTS_KEY) if self._shards else []

    def find(self, term: bytes) -> list[TermPlace]:
        """Return the places of the lists of a term, by number of segment."""
        if not self._shards:
            return []
        number = bisect_right(self._bounds, term)
        value = self._shards[number].get(term)
        return [] if value is None else self._places(value, number)

    def prefix(self, prefix: bytes) -> Iterator[tuple[bytes, list[TermPlace]]]:
        """Yield the terms that begin so, in byte order, with the places of their lists."""
        cut = prefix.rstrip(b"\xff")
        return self.range(prefix, cut[:-1] + bytes((cut[-1] + 1,)) if cut else None)

    def range(
        self, start: bytes | None = None, stop: bytes | None = None
    ) -> Iterator[tuple[bytes, list[TermPlace]]]:
        """Yield the terms from `start` on and below `stop`, in byte order, with the places of their lists."""
        if not self._shards or (start is not None and stop is not None and start >= stop):
            return
        first = 0 if start is None else bisect_right(self._bounds, start)
        after = len(self._shards) if stop is None else bisect_left(self._bounds, stop) + 1
        for number in range(first, after):
            for term, value in self._shards[number].range(start, stop):
                yield term, self._places(value, number)

    @cached_property
    def _bounds(self) -> list[bytes]:
        if len(self._shards) == 1:
            return []
        bounds = [term.encode() for term in self._listed(SHARDS_KEY)]
        if len(bounds) != len(self._shards) - 1:
            raise CorruptFile(
                self._names[0], 0, f"it tells of {len(bounds) + 1} shards, not of {len(self._shards)}"
            )
        return bounds

    def _listed(self, key: str) -> list[str]:
        try:
            return msgspec.json.decode(self._shards[0].header.metadata.get(key, ""), type=list[str])
        except msgspec.DecodeError as err:
            raise CorruptFile(self._names[0], 0, f"its header has no list {key} ({err})") from err

    def _places(self, value: bytes, shard: int) -> list[TermPlace]:
        try:
            places = decode_places(value)
        except ValueError as err:
            raise CorruptFile(self._names[shard], 0, str(err)) from err
        if places and places[-1].segment >= len(self.segments):
            raise CorruptFile(self._names[shard], 0, f"a term names segment {places[-1].segment}")
        return places


def _open(store: Store, named: dict[str, FileEntry], data: FileEntry) -> MapFileReader:
    index = named.get(f"{data.name.removesuffix(DATA)}{INDEX}")
    if index is None:
        raise StoreError(
            f"{store.uri}: the snapshot does not name the index of {data.name}; "
            "restore the store from a copy, or write the dictionary anew with `crawlctl merge`"
        )
    return MapFileReader(EntrySource(store, data), EntrySource(store, index))
