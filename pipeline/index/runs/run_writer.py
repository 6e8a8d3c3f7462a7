"""Writes the files of a run, for the builder of runs and for copies in another number of partitions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileWriter
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import LONG, pack_long
from crawlctl.pipeline.index.fields import PAGE_FIELDS, WORDS
from crawlctl.pipeline.index.runs.posting_slices import encode_slice
from crawlctl.pipeline.index.runs.run_files import (
    DOCS_BLOCK_BYTES,
    DOCUMENTS_KEY,
    FORMS_KEY,
    HEADS,
    MARKS_KEY,
    MAX_POSTINGS_BLOCK_BYTES,
)
from crawlctl.pipeline.index.segment.stored_links import LINK_BYTES, count_nofollow
from crawlctl.pipeline.state.kinds import DOCS, LINKS, POSTINGS
from crawlctl.pipeline.state.layout import KIND_KEY
from crawlctl.pipeline.state.manifest import file_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
    from crawlctl.pipeline.index.segment.stored_documents import Lengths
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.writer import StoreWriter

_BLOCK_BYTES = 256 << 10  # the block size of heads and links


class StoredFiles(NamedTuple):
    """The four files of a run that keep documents: open in a store, or in memory on the way there."""

    docs_data: BinaryIO
    docs_index: BinaryIO
    heads: BinaryIO
    links: BinaryIO


class StoredFields:
    """Writes the records, heads and links of documents; each of the three comes in the order of ordinals."""

    def __init__(self, files: StoredFiles) -> None:
        self._docs = MapFileWriter(
            files.docs_data,
            files.docs_index,
            key_class=LONG,
            metadata={KIND_KEY: DOCS},
            block_bytes=DOCS_BLOCK_BYTES,
        )
        self._heads = _table(files.heads, HEADS)
        self._links = _table(files.links, LINKS)
        self._link_counters = {"links": 0, "nofollow": 0}
        self._words = dict.fromkeys(PAGE_FIELDS, 0)

    def add_records(self, records: Sequence[bytes]) -> None:
        """Add the packed records of the next documents."""
        self._docs.extend(_keys(self._docs.records, len(records)), records)

    def add_heads(self, heads: Sequence[bytes], lengths: Sequence[Lengths]) -> None:
        """Add the packed heads of the next documents, and count their words."""
        self._heads.extend(_keys(self._heads.records, len(heads)), heads)
        for field in PAGE_FIELDS:
            self._words[field] += sum([getattr(found, field) for found in lengths])

    def add_links(self, links: Sequence[bytes]) -> None:
        """Add the packed links of the next documents, and count them."""
        self._links.extend(_keys(self._links.records, len(links)), links)
        self._link_counters["links"] += sum(map(len, links)) // LINK_BYTES
        self._link_counters["nofollow"] += sum(map(count_nofollow, links))

    def close(self) -> None:
        """Write the records that are still in memory to the files."""
        self._docs.close()
        self._heads.close()
        self._links.close()

    def entries(self, written: Sequence[StoreWriter], partition: int) -> tuple[FileEntry, ...]:
        """Return the entries of the four files, in the order of StoredFiles, once the store has them."""
        data, index, heads, links = written
        documents = self._docs.records
        words = {f"{WORDS}{field}": count for field, count in self._words.items()}
        return (
            file_entry(data, DOCS, partition, documents, {"documents": documents, **words}),
            file_entry(index, DOCS, partition),
            file_entry(heads, DOCS, partition, documents),
            file_entry(links, LINKS, partition, documents, self._link_counters),
        )


def stored_names(files: RunFiles) -> tuple[str, str, str, str]:
    """Return the names of the files that keep documents, in the order of StoredFiles."""
    return files.docs_data, files.docs_index, files.docs_heads, files.links


def write_postings(
    store: Store,
    files: RunFiles,
    partition: int,
    slices: Iterable[tuple[ByteStrings, Lists]],
    *,
    documents: int,
    forms: bool = True,
) -> tuple[FileEntry, ...]:
    """Write the posting lists of a run of `documents` documents; the slices come in the order of terms.

    `forms` says whether words as they are written are among the terms.
    """
    counters = Counter(terms=0, postings=0, positions=0)
    metadata = {KIND_KEY: POSTINGS, DOCUMENTS_KEY: str(documents), MARKS_KEY: "1"}
    if forms:
        metadata[FORMS_KEY] = "1"
    with (
        store.write(files.postings_data) as data,
        store.write(files.postings_index) as index,
        MapFileWriter(
            data,
            index,
            compression="none",
            metadata=metadata,
            max_block_bytes=MAX_POSTINGS_BLOCK_BYTES,
        ) as postings,
    ):
        for terms, lists in slices:
            postings.append(terms[0], encode_slice(terms, lists))
            counters["terms"] += len(terms)
            counters["postings"] += len(lists.documents)
            counters["positions"] += len(lists.positions)
    return (
        file_entry(data, POSTINGS, partition, postings.records, dict(counters)),
        file_entry(index, POSTINGS, partition),
    )


def _table(sink: BinaryIO, kind: str) -> SequenceFileWriter:
    return SequenceFileWriter(sink, key_class=LONG, metadata={KIND_KEY: kind}, block_bytes=_BLOCK_BYTES)


def _keys(first: int, count: int) -> list[bytes]:
    return [pack_long(ordinal) for ordinal in range(first, first + count)]
