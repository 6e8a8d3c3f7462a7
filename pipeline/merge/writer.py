"""Writes a segment: what its sources hold of the documents that go into it, by their new ordinals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.formats.mapfile import MapFileWriter
from crawlctl.pipeline.index.allocation import keep_freed_memory
from crawlctl.pipeline.index.columns import COLUMNS as WIDTHS
from crawlctl.pipeline.index.columns import NOT_FETCHED, column_pieces, unpack_language
from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.index.files import file_entry
from crawlctl.pipeline.index.lists_writing import pack_lists
from crawlctl.pipeline.index.segments import (
    COLUMNS,
    POSTINGS,
    SEGMENTS,
    TERMS_DATA,
    TERMS_INDEX,
    counters_of,
    new_segment,
)
from crawlctl.pipeline.merge.copying import copy_docs, copy_links, copy_sketches
from crawlctl.pipeline.merge.impacts import Impacts
from crawlctl.pipeline.merge.slices import Feed, merged
from crawlctl.pipeline.merge.sources import CARRIED
from crawlctl.pipeline.store.layout import KIND_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.config.index import IndexSettings
    from crawlctl.pipeline.merge.anchors import AnchorWords
    from crawlctl.pipeline.merge.copying import Members
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.manifest import FileEntry

    Columns = dict[str, NDArray[np.unsignedinteger]]

TERMS = "terms"  # the kind in the header of that file
TERMS_BLOCK_BYTES = 64 << 10
SLICE_POSITIONS = 600_000  # more no longer fit the caches
BYTES_OF_A_POSITION = 480  # of memory: a slice takes about a quarter of that while it is sorted and packed


@dataclass(frozen=True)
class Content:
    """What goes into a new segment, in the order of ordinals."""

    members: Members
    documents: int
    hosts: Sequence[tuple[bytes, int]]  # with their first ordinals
    anchors: AnchorWords
    checksums: NDArray[np.uint32]  # of the anchors of each document
    frontier: bool = False


def write_segment(
    store: Store,
    content: Content,
    averages: Sequence[float],
    settings: IndexSettings,
    *,
    partition: int,
    round_number: int,
) -> tuple[FileEntry, ...]:
    """Write the files of a segment; `averages` are the lengths of fields in the whole index."""
    keep_freed_memory()
    return _Writer(store, new_segment(partition, round_number), partition, content).write(averages, settings)


class _Writer:
    """A segment that is being written."""

    def __init__(self, store: Store, name: str, partition: int, content: Content) -> None:
        self._store = store
        self._name = name
        self._partition = partition
        self._content = content

    def write(self, averages: Sequence[float], settings: IndexSettings) -> tuple[FileEntry, ...]:
        """Write all files and return them."""
        where, content = (self._store, self._name, self._partition), self._content
        places, docs = copy_docs(*where, content.members, content.documents)
        links = copy_links(*where, content.members)
        sketches = copy_sketches(*where, content.members, content.documents)
        columns = {**_columns(content), "places": places}
        written = self._write_columns(columns, averages)
        impacts = Impacts({field: columns[field] for field in INDEXED_FIELDS}, averages, settings)
        del columns
        return (*docs, links, *self._write_terms(impacts, settings.memory), written, sketches)

    def _write_columns(self, columns: Columns, averages: Sequence[float]) -> FileEntry:
        documents, frontier = self._content.documents, self._content.frontier
        packed = {
            name: column.astype(f"<u{WIDTHS[name]}", copy=False).view(np.uint8).data
            for name, column in columns.items()
        }
        codes, counts = np.unique(columns["languages"], return_counts=True)
        languages = dict(zip(map(unpack_language, codes.tolist()), counts.tolist(), strict=True))
        words = [int(columns[field].sum(dtype=np.int64)) for field in INDEXED_FIELDS]
        with self._store.write(f"{self._name}/{COLUMNS}") as sink:
            for piece in column_pieces(packed, self._content.hosts, documents):
                sink.write(piece)
        counters = counters_of(documents, words, averages, languages, frontier=frontier)
        return file_entry(sink, SEGMENTS, self._partition, documents, counters)

    def _write_terms(self, impacts: Impacts, memory: int) -> tuple[FileEntry, ...]:
        feeds = [Feed(source.slices(), new) for source, new in self._content.members]
        feeds += [Feed(slices, None) for slices in self._content.anchors.sources()]
        counters = {"postings": 0, "positions": 0}
        with (
            self._store.write(f"{self._name}/{TERMS_DATA}") as data,
            self._store.write(f"{self._name}/{TERMS_INDEX}") as index,
            self._store.write(f"{self._name}/{POSTINGS}") as postings,
            MapFileWriter(data, index, metadata={KIND_KEY: TERMS}, block_bytes=TERMS_BLOCK_BYTES) as terms,
        ):
            for keys, lists in merged(feeds, min(SLICE_POSITIONS, memory // BYTES_OF_A_POSITION)):
                entries, parts = pack_lists(lists, *impacts.of(lists), postings.bytes)
                terms.extend_strings(keys, entries)
                postings.write(b"".join(parts))
                counters["postings"] += len(lists.documents)
                counters["positions"] += len(lists.positions)
        return (
            file_entry(data, SEGMENTS, self._partition, terms.records, counters),
            file_entry(index, SEGMENTS, self._partition),
            file_entry(postings, SEGMENTS, self._partition),
        )


def _columns(content: Content) -> Columns:
    """Return the columns by new ordinal, but for the places."""
    columns: Columns = {name: np.zeros(content.documents, f"<u{WIDTHS[name]}") for name in CARRIED}
    for source, new in content.members:
        stay = np.flatnonzero(new >= 0)
        for name, column in columns.items():
            column[new[stay]] = source.columns[name][stay]
    columns["anchor"] = content.anchors.lengths(content.documents)
    columns["anchors"] = content.checksums
    columns["flags"] = np.full(content.documents, NOT_FETCHED if content.frontier else 0, np.uint8)
    return columns
