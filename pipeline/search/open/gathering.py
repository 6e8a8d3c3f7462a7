"""Gathers what every query reads into the compound file of a snapshot, for stores that are remote.

The driver calls it before a commit: it opens the new index as a query does, and keeps all bytes that were
read. As far as there is room, it adds small layers of the dictionary and the posting lists of small segments.
So in a small crawl a query reads only this file and the documents that it shows. Of the other segments the
lists are interleaved (interleaving.py), so that a word is one more request, whatever the partitions, in
crawls of up to some 70,000 pages.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile, CrawlctlError, MissingFile
from crawlctl.pipeline.index.segment.columns import COLUMNS
from crawlctl.pipeline.index.segment.compound_file import write_compound
from crawlctl.pipeline.index.segment.dictionary_layers import layers_of
from crawlctl.pipeline.index.segment.interleaved_lists import InterleavedLists
from crawlctl.pipeline.index.segment.segment_files import COLUMNS as COLUMNS_FILE
from crawlctl.pipeline.index.segment.segment_files import POSTINGS
from crawlctl.pipeline.search.open.remote import RemoteFiles
from crawlctl.pipeline.search.open.searcher import Searcher
from crawlctl.pipeline.state.kinds import (
    COMPOUND,
    DELETED,
    DICTIONARY,
    GROUPS,
    INTERLEAVED,
    PRIORS,
    RULES,
    SEGMENTS,
)
from crawlctl.pipeline.state.layout import round_of
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.store.parallel_reads import ParallelReads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

# A query reads the whole file when it first meets a snapshot: 0.3 s beside S3, about two seconds at home.
MAX_BYTES = 24 << 20
# from a larger layer of the dictionary a query reads blocks, which takes one more round trip
MAX_DICTIONARY_BYTES = 16 << 20

_COLUMN_BYTES = 16  # bytes per document in the longest columns that are gathered
_COLUMNS_SHARE = 4  # columns may take 1/4 of the file
_HOSTS_SHARE = 8  # and tables of hosts of other segments 1/8
_TABLE_BYTES = 1 << 20  # what the table of interleaved lists takes at most of the file, about
# Interleaved lists are written again once new segments have 1/4 of the bytes of those in the file: so all
# commits together write some times the bytes of the index.
_MOST_LACKING = 1 / 4
_COPIES = frozenset({COMPOUND, INTERLEAVED})
_GATHERED_KINDS = frozenset({DELETED, DICTIONARY, GROUPS, PRIORS, RULES, SEGMENTS})


def with_compound(store: Store, before: Snapshot, files: tuple[FileEntry, ...]) -> tuple[FileEntry, ...]:
    """Return the files of the snapshot after `before`, with a compound file if the store is remote."""
    others = tuple(entry for entry in files if entry.kind not in _COPIES)
    dictionary = [entry.name for entry in others if entry.kind == DICTIONARY]
    if isinstance(store, LocalStore) or not dictionary:
        return others
    old = tuple(entry for entry in files if entry.kind in _COPIES)
    compound = tuple(entry for entry in old if entry.kind == COMPOUND)
    if compound and compound == before.files_of(COMPOUND) and _index_of(before.files) == _index_of(others):
        return (*others, *old)
    with suppress(CrawlctlError):  # a damaged file stops no commit; a query or `crawlctl check` will name it
        round_number = max(map(round_of, dictionary))
        gathering = _Gathering(store, (*others, *old), round_number)
        ranges = gathering.ranges_of(msgspec.structs.replace(before, files=others))
        written = write_compound(store, ranges, round_number=round_number)
        return (*others, *gathering.interleaved, written)
    return others


def _index_of(files: Iterable[FileEntry]) -> frozenset[str]:
    return frozenset(entry.name for entry in files if entry.kind in _GATHERED_KINDS)


class _Gathering(RemoteFiles):
    """The files of a snapshot. It keeps everything that was read; an older compound file saves requests."""

    def __init__(self, store: Store, entries: Iterable[FileEntry], round_number: int) -> None:
        super().__init__(store, entries, None)
        self.interleaved: tuple[FileEntry, ...] = ()  # the file of interleaved lists, if there is one
        self._round = round_number
        self._kept: dict[tuple[str, int], bytes] = {}  # from file and offset to the longest range read there

    def ranges_of(self, snapshot: Snapshot) -> dict[tuple[str, int], bytes]:
        """Return the ranges that go into the compound file of a snapshot."""
        parallel = ParallelReads(remote=True)
        try:
            self.read_ahead(parallel)
            searcher = Searcher(self, snapshot, parallel)
            affordable = _affordable(searcher.reader.segments)
            parallel.map(searcher.open_segment, affordable)
            parallel.map(lambda segment: searcher.reader.numbers("hashes", segment), affordable)
            parallel.map(searcher.reader.hosts, _with_affordable_hosts(searcher.reader.segments))
            self._read_dictionary(snapshot, parallel)
            self._read_postings(searcher.reader.segments)
        finally:
            parallel.close()
        return _without_overlaps(self._kept)

    def _read_dictionary(self, snapshot: Snapshot, parallel: ParallelReads) -> None:
        """Read the small layers of the dictionary; without this, each layer costs a query one more read."""
        layers = layers_of(snapshot.files)
        by_size = sorted(
            ((sum(entry.bytes for entry in one.files), one.files) for one in layers), key=itemgetter(0)
        )
        sizes = accumulate(size for size, _ in by_size)
        affordable = [
            entry.name
            for total, (_, files) in zip(sizes, by_size, strict=True)
            if total <= MAX_DICTIONARY_BYTES
            for entry in files
        ]
        parallel.map(self.read, affordable)

    def _read_postings(self, segments: Iterable[Segment]) -> None:
        """Read the lists of small segments; interleave those of the others."""
        room = MAX_BYTES - _TABLE_BYTES - sum(map(len, _without_overlaps(self._kept).values()))
        left = []
        for segment in sorted(segments, key=_lists_bytes):
            room -= _lists_bytes(segment)
            if room >= 0:
                self.read(segment.entries[POSTINGS].name)
            else:
                left.append(segment)
        if len(left) > 1:
            self._interleave(left)

    def _interleave(self, segments: Sequence[Segment]) -> None:
        """Interleave the lists of segments, unless an older file has most of them; read its table."""
        from crawlctl.pipeline.search.open.interleaving import affordable, interleave

        chosen = affordable(segments)
        old = self._old_interleaved(chosen)
        if old is None and len(chosen) > 1:
            old = interleave(self._remote, chosen, round_number=self._round)
            self._entries[old.name] = old
        if old is not None:
            InterleavedLists(self, old)
            self.interleaved = (old,)

    def _old_interleaved(self, segments: Sequence[Segment]) -> FileEntry | None:
        """Return the older file if it is still good enough: writing it again costs as much as all lists."""
        for entry in [one for one in self._entries.values() if one.kind == INTERLEAVED]:
            with suppress(CorruptFile, MissingFile):
                names = InterleavedLists(RemoteFiles(self._remote, (entry,), None), entry).segments
                has = sum(_lists_bytes(one) for one in segments if one.name in names)
                lacks = sum(_lists_bytes(one) for one in segments if one.name not in names)
                return entry if has and lacks <= _MOST_LACKING * has else None
        return None

    def _read(self, name: str, start: int, length: int | None) -> bytes:
        data = super()._read(name, start, length)
        if len(data) > len(self._kept.get((name, start), b"")):
            self._kept[name, start] = data
        return data


def _lists_bytes(segment: Segment) -> int:
    return segment.entries[POSTINGS].bytes


def _affordable(segments: Sequence[Segment]) -> list[int]:
    """Return the numbers of the smallest segments, as many as the file has room for their columns."""
    by_size = sorted(range(len(segments)), key=lambda number: segments[number].documents)
    sums = accumulate(_COLUMN_BYTES * segments[number].documents for number in by_size)
    room = MAX_BYTES // _COLUMNS_SHARE
    return [number for number, total in zip(by_size, sums, strict=True) if total <= room]


def _with_affordable_hosts(segments: Sequence[Segment]) -> list[int]:
    """Return the numbers of segments with small tables of hosts, in which queries look for names of sites."""
    fetched = [number for number, segment in enumerate(segments) if not segment.frontier]
    by_size = sorted(fetched, key=lambda number: _hosts_bytes(segments[number]))
    sums = accumulate(_hosts_bytes(segments[number]) for number in by_size)
    room = MAX_BYTES // _HOSTS_SHARE
    return [number for number, total in zip(by_size, sums, strict=True) if total <= room]


def _hosts_bytes(segment: Segment) -> int:
    """Return the bytes of the table of hosts, about: the columns take the same number per document."""
    return segment.entries[COLUMNS_FILE].bytes - sum(COLUMNS.values()) * segment.documents


def _without_overlaps(ranges: dict[tuple[str, int], bytes]) -> dict[tuple[str, int], bytes]:
    """Return the ranges without those that lie inside another range of the same file."""
    found: dict[tuple[str, int], bytes] = {}
    last, last_end = "", 0
    for (name, start), data in sorted(ranges.items()):
        end = start + len(data)
        if name != last or end > last_end:
            found[name, start] = data
            last, last_end = name, end
    return found
