"""Writes a new segment from runs and older segments: for a merge, or for a copy with other partitions.

Records and links are copied unchanged. A block of which all documents stay is copied as a whole. The segments
of merges and of copies differ only in their words: a merge computes new impacts and indexes the current
anchors (`MergedWords`), a copy keeps the old impacts and anchors (copies/repartition/moved_segments.py).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Protocol

import numpy as np

from crawlctl.pipeline.arrays.malloc import keep_freed_memory
from crawlctl.pipeline.formats.paged_file import PageWriter
from crawlctl.pipeline.formats.sequencefile.block_body import StoredBlock
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileWriter
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import LONG, pack_long
from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.index.merge.impacts import Impacts
from crawlctl.pipeline.index.merge.posting_merge import PostingSource, merge_postings
from crawlctl.pipeline.index.merge.sources import CARRIED
from crawlctl.pipeline.index.runs.run_files import DOCS_BLOCK_BYTES
from crawlctl.pipeline.index.segment.columns import COLUMNS as WIDTHS
from crawlctl.pipeline.index.segment.columns import NOT_FETCHED
from crawlctl.pipeline.index.segment.segment_files import DOCS_DATA, DOCS_INDEX, IN_PAGES, LINKS, SKETCHES
from crawlctl.pipeline.index.segment.segment_writer import write_columns, write_terms
from crawlctl.pipeline.index.segment.stored_documents import decode_record
from crawlctl.pipeline.index.static_quality import QUALITY_BITS
from crawlctl.pipeline.index.words.title_table import TitleEntry, entries_of, write_titles
from crawlctl.pipeline.state.kinds import DOCS, SEGMENTS
from crawlctl.pipeline.state.layout import KIND_KEY
from crawlctl.pipeline.state.manifest import file_entry
from crawlctl.pipeline.text.likeness.fingerprint import SKETCH_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.arrays.array_types import Int32Array, UInt32Array
    from crawlctl.pipeline.config.settings import IndexSettings
    from crawlctl.pipeline.index.merge.anchor_postings import AnchorWords
    from crawlctl.pipeline.index.merge.posting_merge import Slices
    from crawlctl.pipeline.index.merge.sources import Source, Values
    from crawlctl.pipeline.index.segment.segment_writer import Columns
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Members = Sequence[tuple[Source, Int32Array]]  # sources, with the new ordinal of each document or -1

SLICE_POSITIONS = 600_000  # positions in a slice of terms; more positions do not fit into the caches
# Bytes of the memory of a task per position. A slice uses about a quarter of it while it is sorted and
# packed.
BYTES_OF_A_POSITION = 480

_LINKS_BLOCK_BYTES = 256 << 10
_COPIED_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class SegmentContent:
    """The documents of a new segment, in the order of their ordinals."""

    members: Members
    documents: int
    hosts: Sequence[tuple[bytes, int]]  # hosts with their first ordinals
    averages: Sequence[float]  # the average field lengths that the impacts are computed with
    frontier: bool = False


class SegmentWords(Protocol):
    """The source of the posting lists of a new segment, and of its columns."""

    def columns(self) -> Columns:
        """Return all columns by new ordinal, except for `rows`."""

    def slices(self, columns: Columns) -> Slices:
        """Yield the terms in byte order with their lists and ratings."""


def write_segment(
    store: Store, name: str, partition: int, content: SegmentContent, words: SegmentWords
) -> tuple[FileEntry, ...]:
    """Write all files of the segment `name` and return their entries."""
    keep_freed_memory()
    where = store, name, partition
    found: list[TitleEntry] = []
    rows, docs = _copy_docs(*where, content, None if content.frontier else found)
    titles = () if content.frontier else (write_titles(*where, found, content.documents),)
    links = _copy_links(*where, content.members)
    sketches = _copy_sketches(*where, content)
    columns = {**words.columns(), "rows": rows}
    written = write_columns(
        *where,
        columns,
        hosts=content.hosts,
        averages=content.averages,
        frontier=content.frontier,
        forms=all(source.has_forms for source, _ in content.members),
    )
    slices = words.slices(columns)
    del columns
    terms = write_terms(*where, slices)
    return (*docs, links, *terms, written, sketches, *titles)


def slice_positions(memory: int) -> int:
    """Return how many positions a slice may have, given the memory of a task in bytes."""
    return min(SLICE_POSITIONS, memory // BYTES_OF_A_POSITION)


def move_columns(members: Members, documents: int, names: Iterable[str]) -> Columns:
    """Return these columns of the sources, in the order of the new ordinals."""
    columns: Columns = {name: np.zeros(documents, f"<u{WIDTHS[name]}") for name in names}
    for source, new in members:
        stay = np.flatnonzero(new >= 0)
        for name, column in columns.items():
            column[new[stay]] = source.column(name)[stay]
    return columns


class MergedWords:
    """The words of a segment that a merge makes: new impacts, and the current anchors."""

    def __init__(
        self,
        content: SegmentContent,
        anchors: AnchorWords,
        checksums: UInt32Array,  # of the anchors of each document
        settings: IndexSettings,
    ) -> None:
        self._content = content
        self._anchors = anchors
        self._checksums = checksums
        self._settings = settings

    def columns(self) -> Columns:
        """Return all columns by new ordinal, except for `rows`."""
        content = self._content
        columns = move_columns(content.members, content.documents, CARRIED)
        columns["anchor"] = self._anchors.lengths(content.documents)
        columns["anchors"] = self._checksums
        columns["flags"] &= QUALITY_BITS
        if content.frontier:
            columns["flags"] |= NOT_FETCHED
        return columns

    def slices(self, columns: Columns) -> Slices:
        """Return the terms in byte order with their lists and ratings."""
        lengths = {field: columns[field] for field in INDEXED_FIELDS}
        return self._rated(Impacts(lengths, self._content.averages, self._settings))

    def _rated(self, impacts: Impacts) -> Slices:
        sources = [
            PostingSource(source.slices(), new, keep_anchors=False) for source, new in self._content.members
        ]
        sources += map(PostingSource, self._anchors.sources())
        for terms, lists in merge_postings(sources, slice_positions(self._settings.memory)):
            yield terms, lists._replace(ratings=impacts.of_terms(terms, lists))


def _copy_docs(
    store: Store, name: str, partition: int, content: SegmentContent, titles: list[TitleEntry] | None = None
) -> tuple[UInt32Array, tuple[FileEntry, ...]]:
    """Copy the records of the documents; return the row of each document by its ordinal, and the files.

    Titles and headings are added to `titles`, unless it is None. Only for them blocks are inflated.
    """
    rows = np.zeros(content.documents, np.uint32)
    docs_name = f"{name}/{DOCS_DATA}"
    with (
        store.write(docs_name) as data,
        store.write(f"{name}/{DOCS_INDEX}") as index,
        MapFileWriter(
            data, index, key_class=LONG, metadata={KIND_KEY: DOCS}, block_bytes=DOCS_BLOCK_BYTES
        ) as docs,
    ):
        for ordinals, values in kept_values((source.docs(), new) for source, new in content.members):
            first = docs.records
            rows[ordinals] = np.arange(first, first + len(ordinals))
            _add(docs, first, values)
            if titles is not None:
                for ordinal, value in zip(ordinals.tolist(), _unpacked(values), strict=True):
                    titles.extend(entries_of(decode_record(value, docs_name), ordinal))
    entries = (
        file_entry(data, SEGMENTS, partition, docs.records),
        file_entry(index, SEGMENTS, partition),
    )
    return rows, entries


def _copy_links(store: Store, name: str, partition: int, members: Members) -> FileEntry:
    """Copy the links of the documents, in the order of their records."""
    with (
        store.write(f"{name}/{LINKS}") as sink,
        SequenceFileWriter(
            sink, key_class=LONG, metadata={KIND_KEY: LINKS}, block_bytes=_LINKS_BLOCK_BYTES
        ) as links,
    ):
        for _, values in kept_values((source.links(), new) for source, new in members):
            _add(links, links.records, values)
    return file_entry(sink, SEGMENTS, partition, links.records)


def _copy_sketches(store: Store, name: str, partition: int, content: SegmentContent) -> FileEntry:
    """Copy the sketches, and bring them into the order of the ordinals.

    They are read in another order, so each is written to its place in a temporary file first.
    """
    with TemporaryFile() as file, store.write(f"{name}/{SKETCHES}") as sink, PageWriter(sink) as pages:
        file.truncate(content.documents * SKETCH_BYTES)
        for ordinals, values in kept_values((source.sketches(), new) for source, new in content.members):
            for ordinal, value in zip(ordinals.tolist(), _unpacked(values), strict=True):
                os.pwrite(file.fileno(), value, ordinal * SKETCH_BYTES)
        while chunk := file.read(_COPIED_AT_ONCE):
            pages.write(chunk)
    return file_entry(sink, SEGMENTS, partition, content.documents, dict(IN_PAGES))


def kept_values(
    members: Iterable[tuple[Values, Int32Array]],
) -> Iterator[tuple[Int32Array, list[bytes] | StoredBlock]]:
    """Yield new ordinals and values of the documents that stay.

    A member is the values of a source, and the new ordinal of each document of the source, or -1.
    """
    for blocks, new in members:
        for old, values in blocks:
            ordinals = new[old]
            stay = np.flatnonzero(ordinals >= 0)
            if len(stay) == len(ordinals):
                yield ordinals, values
            elif len(stay):
                held = _unpacked(values)
                yield ordinals[stay], [held[index] for index in stay.tolist()]


def _add(writer: MapFileWriter | SequenceFileWriter, first: int, values: list[bytes] | StoredBlock) -> None:
    """Add values under the next rows; a whole block is copied without being inflated."""
    if isinstance(values, StoredBlock):
        writer.copy([pack_long(row) for row in range(first, first + len(values.keys))], values)
    else:
        writer.extend([pack_long(row) for row in range(first, first + len(values))], values)


def _unpacked(values: list[bytes] | StoredBlock) -> list[bytes]:
    return values.values() if isinstance(values, StoredBlock) else values
