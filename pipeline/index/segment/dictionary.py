"""Reads the dictionary: for each term of the index, its term infos in all segments.

Merges write the dictionary (index/merge/dictionary_shards.py).

One MapFile per shard; the shards are ranges of terms. The value of a term has, for each segment with the
term, the number of the segment (2 bytes, big-endian) and the term info there (term_info.py). The header says
which segment has which number, and where the shards begin. Blocks are small, since a look-up inflates one
block.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile, StoreError, damage_in
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.index.segment.term_info import decode_term_info
from crawlctl.pipeline.state.entry_source import EntrySource
from crawlctl.pipeline.state.kinds import DICTIONARY
from crawlctl.pipeline.state.layout import DATA, INDEX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

SEGMENTS_KEY = "crawlctl.segments"  # in the header: the names of the segments by their numbers
SHARDS_KEY = "crawlctl.shards"  # in the header: the first term of each shard, from the second shard on
SEGMENT_NUMBER_BYTES = 2


def decode_term_infos(value: bytes) -> list[TermInfo]:
    """Return the term infos in the value of a term; raise ValueError on damage."""
    infos: list[TermInfo] = []
    at = 0
    while at < len(value):
        segment = int.from_bytes(value[at : at + SEGMENT_NUMBER_BYTES], "big")
        info, at = decode_term_info(value, at + SEGMENT_NUMBER_BYTES, segment)
        infos.append(info)
    return infos


class Dictionary:
    """All shards of a dictionary; raises CorruptFile if one is damaged.

    The header and the sparse index of a shard are read once, when first needed; then a look-up reads a block.
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

    def find(self, term: bytes) -> list[TermInfo]:
        """Return the term infos of a term, in the order of segment numbers."""
        if not self._shards:
            return []
        number = bisect_right(self._bounds, term)
        value = self._shards[number].get(term)
        return [] if value is None else self._term_infos(value, number)

    def range(
        self, start: bytes | None = None, stop: bytes | None = None
    ) -> Iterator[tuple[bytes, list[TermInfo]]]:
        """Yield the terms from `start` on and below `stop`, in byte order, with their term infos."""
        if not self._shards or (start is not None and stop is not None and start >= stop):
            return
        first = 0 if start is None else bisect_right(self._bounds, start)
        after = len(self._shards) if stop is None else bisect_left(self._bounds, stop) + 1
        for number in range(first, after):
            for term, value in self._shards[number].range(start, stop):
                yield term, self._term_infos(value, number)

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

    def _term_infos(self, value: bytes, shard: int) -> list[TermInfo]:
        with damage_in(self._names[shard]):
            infos = decode_term_infos(value)
        if infos and infos[-1].segment >= len(self.segments):
            raise CorruptFile(self._names[shard], 0, f"a term names segment {infos[-1].segment}")
        return infos


def _open(store: Store, named: dict[str, FileEntry], data: FileEntry) -> MapFileReader:
    index = named.get(f"{data.name.removesuffix(DATA)}{INDEX}")
    if index is None:
        raise StoreError(
            f"{store.uri}: the snapshot does not name the index of {data.name}; "
            "`crawlctl check --repair` writes the dictionary again"
        )
    return MapFileReader(EntrySource(store, data), EntrySource(store, index))
