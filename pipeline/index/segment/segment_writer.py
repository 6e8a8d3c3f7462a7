"""Writes the files of a segment that are made of numbers: terms with their lists, and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.formats.paged_file import PageWriter
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileWriter
from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.index.runs.run_files import file_entry
from crawlctl.pipeline.index.segment.columns import COLUMNS as WIDTHS
from crawlctl.pipeline.index.segment.columns import column_pieces, unpack_language
from crawlctl.pipeline.index.segment.postings.list_writer import pack_lists
from crawlctl.pipeline.index.segment.segment_files import (
    COLUMNS,
    IN_PAGES,
    POSTINGS,
    TERMS_DATA,
    TERMS_INDEX,
    counters_of,
)
from crawlctl.pipeline.state.kinds import SEGMENTS
from crawlctl.pipeline.state.layout import KIND_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.runs.posting_slices import Rated
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Columns = dict[str, NDArray[np.unsignedinteger]]

TERMS = "terms"  # the kind in the header of that file
TERMS_BLOCK_BYTES = 64 << 10


def write_columns(
    store: Store,
    name: str,
    partition: int,
    columns: Columns,
    *,
    hosts: Sequence[tuple[bytes, int]],
    averages: Sequence[float],
    frontier: bool,
) -> FileEntry:
    """Write all columns of a segment and its hosts with their first ordinals."""
    documents = len(columns["places"])
    packed = {
        column: numbers.astype(f"<u{WIDTHS[column]}", copy=False).view(np.uint8).data
        for column, numbers in columns.items()
    }
    codes, counts = np.unique(columns["languages"], return_counts=True)
    languages = dict(zip(map(unpack_language, codes.tolist()), counts.tolist(), strict=True))
    words = [int(columns[field].sum(dtype=np.int64)) for field in INDEXED_FIELDS]
    with store.write(f"{name}/{COLUMNS}") as sink, PageWriter(sink) as pages:
        for piece in column_pieces(packed, hosts, documents):
            pages.write(piece)
    counters = counters_of(documents, words, averages, languages, frontier=frontier)
    return file_entry(sink, SEGMENTS, partition, documents, counters | IN_PAGES)


def write_terms(
    store: Store, name: str, partition: int, slices: Iterable[tuple[ByteStrings, Rated]]
) -> tuple[FileEntry, ...]:
    """Write the terms of a segment, which come in byte order, and their lists."""
    counters = {"postings": 0, "positions": 0}
    with (
        store.write(f"{name}/{TERMS_DATA}") as data,
        store.write(f"{name}/{TERMS_INDEX}") as index,
        store.write(f"{name}/{POSTINGS}") as sink,
        PageWriter(sink) as postings,
        MapFileWriter(data, index, metadata={KIND_KEY: TERMS}, block_bytes=TERMS_BLOCK_BYTES) as terms,
    ):
        for keys, rated in slices:
            entries, parts = pack_lists(*rated, postings.bytes)
            terms.extend_strings(keys, entries)
            postings.write(b"".join(parts))
            counters["postings"] += len(rated.lists.documents)
            counters["positions"] += len(rated.lists.positions)
    return (
        file_entry(data, SEGMENTS, partition, terms.records, counters),
        file_entry(index, SEGMENTS, partition),
        file_entry(sink, SEGMENTS, partition, counters=dict(IN_PAGES)),
    )
