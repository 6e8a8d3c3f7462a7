"""Reads the dictionary: for each term of the index, its term infos in all segments.

Merges write the dictionary (index/merge/dictionary_shards.py), in a few layers (dictionary_layers.py). A term
may be in several layers: a look-up asks all layers and joins their term infos.

In a layer, one MapFile per shard; the shards are ranges of terms. The value of a term has, for each segment
with the term, the number of the segment in this layer (2 bytes, big-endian) and the term info there
(term_info.py). The header says which segment has which number, and where the shards begin. Blocks are small,
because a look-up decompresses a block. Readers number the segments of all layers in the order of their names,
and ignore segments that are no longer in the snapshot.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property, partial
from heapq import merge
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile, StoreError, damage_in
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.index.segment.dictionary_layers import layers_of
from crawlctl.pipeline.index.segment.term_info import decode_term_info
from crawlctl.pipeline.state.entry_source import EntrySource
from crawlctl.pipeline.state.layout import DATA, INDEX

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

SEGMENTS_KEY = "crawlctl.segments"  # in the header: the names of the segments by their numbers
SHARDS_KEY = "crawlctl.shards"  # in the header: the first term of each shard, from the second shard on
SEGMENT_NUMBER_BYTES = 2


def decode_term_infos(value: bytes, numbers: Sequence[int] | None = None) -> list[TermInfo]:
    """Return the term infos in the value of a term; raise ValueError on damage.

    With `numbers`, segment number n becomes numbers[n], and is left out if that is negative.
    """
    infos: list[TermInfo] = []
    at = 0
    while at < len(value):
        segment = int.from_bytes(value[at : at + SEGMENT_NUMBER_BYTES], "big")
        if numbers is not None:
            if segment >= len(numbers):
                raise ValueError(f"a term names segment {segment}")
            segment = numbers[segment]
        info, at = decode_term_info(value, at + SEGMENT_NUMBER_BYTES, segment)
        if segment >= 0:
            infos.append(info)
    return infos


class Dictionary:
    """All layers of a dictionary; raises CorruptFile if one is damaged.

    The header and the sparse index of a shard are read once, when first needed; then a look-up reads a block
    of each layer. `live` names the segments that count; without it all segments count.
    """

    def __init__(
        self, store: Store, entries: Iterable[FileEntry], live: Collection[str] | None = None
    ) -> None:
        self._opened = [_OpenLayer(store, layer.files) for layer in layers_of(entries)]
        self._live = live

    @cached_property
    def segments(self) -> list[str]:
        """The names of the segments by their numbers."""
        named = {name for layer in self._opened for name in layer.names}
        return sorted(named if self._live is None else named.intersection(self._live))

    @cached_property
    def layers(self) -> list[AskedLayer]:
        """The layers with live segments, the newest first; a layer answers for its own segments."""
        left = {name: number for number, name in enumerate(self.segments)}
        layers = []
        for opened in self._opened:
            numbers = [left.pop(name, -1) for name in opened.names]
            if any(number >= 0 for number in numbers):
                layers.append(AskedLayer(opened, numbers))
        return layers

    def find(self, term: bytes) -> list[TermInfo]:
        """Return the term infos of a term, in the order of segment numbers."""
        return joined([layer.find(term) for layer in self.layers])

    def range(
        self, start: bytes | None = None, stop: bytes | None = None
    ) -> Iterator[tuple[bytes, list[TermInfo]]]:
        """Yield the terms from `start` on and below `stop`, in byte order, with their term infos."""
        ranges = [layer.range(start, stop) for layer in self.layers]
        if len(ranges) == 1:
            yield from ranges[0]
            return
        for term, rows in groupby(merge(*ranges, key=itemgetter(0)), key=itemgetter(0)):
            yield term, joined([infos for _, infos in rows])


def joined(infos: Sequence[list[TermInfo]]) -> list[TermInfo]:
    """Return the term infos that several layers have of a term, in the order of segment numbers."""
    having = [some for some in infos if some]
    if len(having) < 2:
        return having[0] if having else []
    return sorted((info for some in having for info in some), key=attrgetter("segment"))


class AskedLayer:
    """An open layer, and the numbers in the whole index of the segments that it answers for."""

    def __init__(self, opened: _OpenLayer, numbers: list[int]) -> None:
        self._opened = opened
        self._numbers = numbers

    def find(self, term: bytes) -> list[TermInfo]:
        """Return the term infos of a term in the segments of this layer."""
        found = self._opened.find(term)
        return [] if found is None else self._term_infos(*found)

    def find_near(self, terms: Sequence[bytes]) -> dict[bytes, list[TermInfo]]:
        """Return the same for several terms, which should begin alike."""
        found = self._opened.find_near(sorted(terms))
        return {term: [] if value is None else self._term_infos(*value) for term, value in found}

    def range(
        self, start: bytes | None = None, stop: bytes | None = None
    ) -> Iterator[tuple[bytes, list[TermInfo]]]:
        """Yield the terms in a range that its segments have, in byte order, with their term infos."""
        for term, value, name in self._opened.range(start, stop):
            if infos := self._term_infos(value, name):
                yield term, infos

    def _term_infos(self, value: bytes, name: str) -> list[TermInfo]:
        with damage_in(name):
            return decode_term_infos(value, self._numbers)


class _OpenLayer:
    """The shards of a layer."""

    def __init__(self, store: Store, entries: Iterable[FileEntry]) -> None:
        named = {entry.name: entry for entry in entries}
        data = [entry for entry in named.values() if entry.name.endswith(f"/{DATA}")]
        data.sort(key=lambda entry: entry.partition)
        self._names = [store.locate(entry.name) for entry in data]
        self._shards = [_open(store, named, entry) for entry in data]

    @cached_property
    def names(self) -> list[str]:
        """The names of its segments by their numbers in it."""
        return self._listed(SEGMENTS_KEY) if self._shards else []

    def find(self, term: bytes) -> tuple[bytes, str] | None:
        """Return the value of a term, and the name of the file that has it."""
        ((_, found),) = self.find_near((term,))
        return found

    def find_near(self, terms: Sequence[bytes]) -> Iterator[tuple[bytes, tuple[bytes, str] | None]]:
        """Yield rising terms, each with its value and the name of the file that has it."""
        for number, some in groupby(terms, key=partial(bisect_right, self._bounds)):
            near = list(some)
            for term, value in zip(near, self._shards[number].get_near(near), strict=True):
                yield term, None if value is None else (value, self._names[number])

    def range(self, start: bytes | None, stop: bytes | None) -> Iterator[tuple[bytes, bytes, str]]:
        """Yield the terms in a range, their values, and the names of the files."""
        if start is not None and stop is not None and start >= stop:
            return
        first = 0 if start is None else bisect_right(self._bounds, start)
        after = len(self._shards) if stop is None else bisect_left(self._bounds, stop) + 1
        for number in range(first, after):
            for term, value in self._shards[number].range(start, stop):
                yield term, value, self._names[number]

    @cached_property
    def _bounds(self) -> list[bytes]:
        if len(self._shards) == 1:
            return []
        bounds = [term.encode() for term in self._listed(SHARDS_KEY)]
        if len(bounds) != len(self._shards) - 1:
            raise CorruptFile(
                self._names[0], 0, f"it names {len(bounds) + 1} shards, not {len(self._shards)}"
            )
        return bounds

    def _listed(self, key: str) -> list[str]:
        try:
            return msgspec.json.decode(self._shards[0].header.metadata.get(key, ""), type=list[str])
        except msgspec.DecodeError as err:
            raise CorruptFile(self._names[0], 0, f"its header has no list {key} ({err})") from err


def _open(store: Store, named: dict[str, FileEntry], data: FileEntry) -> MapFileReader:
    index = named.get(f"{data.name.removesuffix(DATA)}{INDEX}")
    if index is None:
        raise StoreError(
            f"{store.uri}: the snapshot does not name the index of {data.name}; "
            "`crawlctl check --repair` writes the dictionary again"
        )
    return MapFileReader(store.open(data.name), EntrySource(store, index))
