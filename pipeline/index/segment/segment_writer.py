"""Writes the terms, posting lists and columns of a segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.formats.paged_file import PageWriter
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileWriter
from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.index.segment.columns import COLUMNS as WIDTHS
from crawlctl.pipeline.index.segment.columns import encode_columns, unpack_language
from crawlctl.pipeline.index.segment.postings.form_terms import are_forms
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
from crawlctl.pipeline.state.manifest import file_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Columns = dict[str, NDArray[np.unsignedinteger]]

TERMS = "terms"  # the kind in the header of the file
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
    forms: bool = True,
) -> FileEntry:
    """Write all columns of a segment, and its hosts with their first ordinals.

    `averages` are the average field lengths that the impacts were computed with. `forms` says whether all its
    documents are indexed by words as they are written.
    """
    documents = len(columns["rows"])
    packed = {
        column: numbers.astype(f"<u{WIDTHS[column]}", copy=False).view(np.uint8).data
        for column, numbers in columns.items()
    }
    codes, counts = np.unique(columns["languages"], return_counts=True)
    languages = dict(zip(map(unpack_language, codes.tolist()), counts.tolist(), strict=True))
    words = [int(columns[field].sum(dtype=np.int64)) for field in INDEXED_FIELDS]
    with store.write(f"{name}/{COLUMNS}") as sink, PageWriter(sink) as pages:
        for data in encode_columns(packed, hosts, documents):
            pages.write(data)
    counters = counters_of(documents, words, averages, languages, frontier=frontier, forms=forms)
    return file_entry(sink, SEGMENTS, partition, documents, counters | IN_PAGES)


def write_terms(
    store: Store, name: str, partition: int, slices: Iterable[tuple[ByteStrings, Lists]]
) -> tuple[FileEntry, ...]:
    """Write the terms of a segment, which come in byte order, and their lists, which have ratings."""
    counters = {"postings": 0, "positions": 0}
    with (
        store.write(f"{name}/{TERMS_DATA}") as data,
        store.write(f"{name}/{TERMS_INDEX}") as index,
        store.write(f"{name}/{POSTINGS}") as sink,
        PageWriter(sink) as postings,
        MapFileWriter(data, index, metadata={KIND_KEY: TERMS}, block_bytes=TERMS_BLOCK_BYTES) as terms,
    ):
        for keys, lists in slices:
            infos, sections = pack_lists(lists, postings.bytes, are_forms(keys))
            terms.extend_strings(keys, infos)
            postings.write(b"".join(sections))
            counters["postings"] += len(lists.documents)
            counters["positions"] += len(lists.positions)
    return (
        file_entry(data, SEGMENTS, partition, terms.records, counters),
        file_entry(index, SEGMENTS, partition),
        file_entry(sink, SEGMENTS, partition, counters=dict(IN_PAGES)),
    )
