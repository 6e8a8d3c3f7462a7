"""Writes the files of a segment that is made of slices of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.copies.lists import merged, moved_slices
from crawlctl.pipeline.formats.bytestrings import strings_of
from crawlctl.pipeline.formats.mapfile import MapFileWriter
from crawlctl.pipeline.index.columns import COLUMNS as WIDTHS
from crawlctl.pipeline.index.columns import column_pieces, unpack_language
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
)
from crawlctl.pipeline.merge.copying import copy_docs, copy_links, copy_sketches
from crawlctl.pipeline.merge.writer import TERMS, TERMS_BLOCK_BYTES
from crawlctl.pipeline.store.layout import KIND_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.merge.sources import SegmentSource
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.manifest import FileEntry

    Columns = dict[str, NDArray[np.unsignedinteger]]


class SegmentContent(NamedTuple):
    """What goes into a segment, in the order of its ordinals."""

    members: Sequence[tuple[SegmentSource, NDArray[np.int32]]]  # with the new ordinal of each document or −1
    documents: int
    hosts: Sequence[tuple[bytes, int]]  # with their first ordinals
    averages: Sequence[float]
    frontier: bool


def write_files(store: Store, name: str, partition: int, content: SegmentContent) -> tuple[FileEntry, ...]:
    """Write all files of a segment and return them."""
    where = store, name, partition
    places, docs = copy_docs(*where, content.members, content.documents)
    links = copy_links(*where, content.members)
    sketches = copy_sketches(*where, content.members, content.documents)
    columns = _write_columns(*where, content, {**_columns(content), "places": places})
    return (*docs, links, *_write_terms(*where, content), columns, sketches)


def _columns(content: SegmentContent) -> Columns:
    """Return the columns by new ordinal, but for the places."""
    columns: Columns = {
        name: np.zeros(content.documents, f"<u{width}") for name, width in WIDTHS.items() if name != "places"
    }
    for source, new in content.members:
        stay = np.flatnonzero(new >= 0)
        for name, column in columns.items():
            column[new[stay]] = source.column(name)[stay]
    return columns


def _write_columns(
    store: Store, name: str, partition: int, content: SegmentContent, columns: Columns
) -> FileEntry:
    packed = {
        column: numbers.astype(f"<u{WIDTHS[column]}", copy=False).view(np.uint8).data
        for column, numbers in columns.items()
    }
    codes, counts = np.unique(columns["languages"], return_counts=True)
    languages = dict(zip(map(unpack_language, codes.tolist()), counts.tolist(), strict=True))
    words = [int(columns[field].sum(dtype=np.int64)) for field in INDEXED_FIELDS]
    with store.write(f"{name}/{COLUMNS}") as sink:
        for piece in column_pieces(packed, content.hosts, content.documents):
            sink.write(piece)
    counters = counters_of(content.documents, words, content.averages, languages, frontier=content.frontier)
    return file_entry(sink, SEGMENTS, partition, content.documents, counters)


def _write_terms(store: Store, name: str, partition: int, content: SegmentContent) -> tuple[FileEntry, ...]:
    counters = {"postings": 0, "positions": 0}
    with (
        store.write(f"{name}/{TERMS_DATA}") as data,
        store.write(f"{name}/{TERMS_INDEX}") as index,
        store.write(f"{name}/{POSTINGS}") as postings,
        MapFileWriter(data, index, metadata={KIND_KEY: TERMS}, block_bytes=TERMS_BLOCK_BYTES) as terms,
    ):
        for keys, rated in merged([moved_slices(*member) for member in content.members]):
            entries, parts = pack_lists(*rated, postings.bytes)
            terms.extend_strings(strings_of(keys), entries)
            postings.write(b"".join(parts))
            counters["postings"] += len(rated.lists.documents)
            counters["positions"] += len(rated.lists.positions)
    return (
        file_entry(data, SEGMENTS, partition, terms.records, counters),
        file_entry(index, SEGMENTS, partition),
        file_entry(postings, SEGMENTS, partition),
    )
