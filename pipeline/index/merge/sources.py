"""The sources of a new segment: runs and older segments behind one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import astuple

from crawlctl.pipeline.arrays.byte_strings import last_above
from crawlctl.pipeline.errors import CorruptFile, damage_in
from crawlctl.pipeline.formats.sequencefile.block_body import StoredBlock
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.window import Window
from crawlctl.pipeline.index.fields import PAGE_FIELDS
from crawlctl.pipeline.index.runs.run_heads import read_heads
from crawlctl.pipeline.index.runs.run_postings import RunPostings
from crawlctl.pipeline.index.segment.columns import COLUMNS as WIDTHS
from crawlctl.pipeline.index.segment.columns import ColumnReader, pack_language
from crawlctl.pipeline.index.segment.postings.bulk_lists import read_lists, read_rated_lists, read_term_infos
from crawlctl.pipeline.index.segment.postings.older_lists import with_marks
from crawlctl.pipeline.index.segment.segment_files import (
    COLUMNS,
    DOCS_DATA,
    DOCS_INDEX,
    LINKS,
    POSTINGS,
    SKETCHES,
    TERMS_DATA,
)
from crawlctl.pipeline.index.segment.stored_documents import decode_url
from crawlctl.pipeline.index.static_quality import flags_of, quality_of
from crawlctl.pipeline.state.layout import round_of
from crawlctl.pipeline.text.documents.page import CLEARLY_EXPLICIT
from crawlctl.pipeline.text.likeness.fingerprint import SKETCH_BYTES
from crawlctl.pipeline.urls.hosts import stable_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.array_types import IndexArray, Int32Array, UInt64Array
    from crawlctl.pipeline.index.merge.posting_merge import Slices
    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.index.segment.postings.bulk_lists import TermInfos
    from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.stored_documents import DocHead
    from crawlctl.pipeline.store.base import Store

    # Ordinals, and the values of these documents; a block is copied as it is if all its documents stay.
    Values = Iterator[tuple[IndexArray, list[bytes] | StoredBlock]]
    Sketches = Iterator[tuple[IndexArray, list[bytes]]]

READ_AHEAD = 512 << 10  # bytes per file; a merge reads many files at once
SLICE_POSTINGS = 60_000
SLICE_BYTES = 160 << 10
SKETCHES_AT_ONCE = 4096

# The columns that a merge carries over; it computes all others again.
IDENTIFYING = ("hashes", "fetched")
CARRIED = (*IDENTIFYING, "modified", *PAGE_FIELDS, "languages", "characters", "flags", "explicit")
_MAX_U32 = (1 << 32) - 1


def dtype_of(column: str) -> np.dtype[np.unsignedinteger]:
    """Return the type of the numbers of a column in its file."""
    return np.dtype(f"<u{WIDTHS[column]}")


class Source(ABC):
    """The documents of a run or segment: their columns, posting lists, records, links and sketches."""

    is_run = False

    def __init__(self, name: str, columns: Mapping[str, NDArray[np.unsignedinteger]]) -> None:
        self.name = name
        self.documents = len(columns["hashes"])
        self._columns = columns
        # By URL; of several documents of one URL the newest comes last.
        self._order = np.lexsort((columns["fetched"], columns["hashes"])).astype(np.int32)
        self._hashes = columns["hashes"][self._order]

    def column(self, name: str) -> NDArray[np.unsignedinteger]:
        """Return a column by ordinal; a run has only the columns in CARRIED."""
        return self._columns[name]

    def find(self, hashes: UInt64Array) -> tuple[IndexArray, Int32Array]:
        """Return the indices of the URLs that the source has, and the ordinals of their documents."""
        if not self.documents:
            return np.zeros(0, np.intp), np.zeros(0, np.int32)
        last = np.searchsorted(self._hashes, hashes, side="right") - 1
        found = np.flatnonzero((last >= 0) & (self._hashes[last] == hashes))
        return found, self._order[last[found]]

    @property
    def age(self) -> tuple[int, bool]:
        """The sort key by time of indexing: the round, and a segment before the runs of the same round."""
        return round_of(self.name), self.is_run

    @property
    @abstractmethod
    def has_forms(self) -> bool:
        """Whether words as they are written are terms; not in sources of older versions."""

    @abstractmethod
    def slices(self) -> Slices:
        """Yield the terms in byte order with their lists, a slice at a time."""

    @abstractmethod
    def docs(self) -> Values:
        """Yield the packed records of all documents, in the order of rows."""

    def urls(self) -> Iterator[tuple[int, str]]:
        """Yield the ordinals of all documents with their URLs, in the order of rows."""
        for ordinals, values in self.docs():
            held = values.values() if isinstance(values, StoredBlock) else values
            yield from zip(ordinals.tolist(), map(decode_url, held), strict=True)

    @abstractmethod
    def links(self) -> Values:
        """Yield the packed links of all documents, in the same order."""

    @abstractmethod
    def sketches(self) -> Sketches:
        """Yield the sketches of the documents that have one."""


class RunSource(Source):
    """A run; its columns are made from the heads of its documents."""

    is_run = True

    def __init__(self, store: Store, files: RunFiles) -> None:
        self._store = store
        self._files = files
        self._docs = MapFileReader(
            store.open(files.docs_data), store.open(files.docs_index), read_ahead=READ_AHEAD
        )
        self._docs_name = store.locate(files.docs_data)
        self._links = store.open(files.links)
        super().__init__(files.links, _columns_of(self._heads()))

    @property
    def has_forms(self) -> bool:
        """Whether words as they are written are terms."""
        return RunPostings(self._store, self._files).has_forms

    def slices(self) -> Slices:
        """Yield the terms in byte order with their lists, a slice at a time."""
        postings = RunPostings(self._store, self._files, read_ahead=READ_AHEAD)
        return (
            postings.slices()
            if postings.has_marks
            else with_marks(postings.slices(), self.column("languages"))
        )

    def docs(self) -> Values:
        """Yield the packed records of all documents, in the order of rows."""
        return _numbered(self._docs.stored_blocks(), self._docs_name, self.documents)

    def links(self) -> Values:
        """Yield the packed links of all documents, in the same order."""
        reader = SequenceFileReader(self._links, read_ahead=READ_AHEAD)
        return _numbered(reader.stored_blocks(), self._links.name, self.documents)

    def sketches(self) -> Sketches:
        """Yield the sketches of the documents that have one."""
        sketches = ((ordinal, head.sketch) for ordinal, head in enumerate(self._heads()))
        having = (item for item in sketches if len(item[1]) == SKETCH_BYTES)
        while some := list(islice(having, SKETCHES_AT_ONCE)):
            yield np.array([ordinal for ordinal, _ in some], np.intp), [sketch for _, sketch in some]

    def _heads(self) -> Iterator[DocHead]:
        for _, head in read_heads(self._store, self._files.docs_heads, read_ahead=READ_AHEAD):
            yield head


class SegmentSource(Source):
    """A segment; with `stays` only the columns that identify documents are read."""

    def __init__(self, store: Store, segment: Segment, *, stays: bool = False) -> None:
        self.segment = segment
        self._store = store
        self._reader = ColumnReader(segment.open(store, COLUMNS), segment.documents)
        self._reader.check()
        needed = IDENTIFYING if stays else CARRIED
        super().__init__(segment.name, {name: self._read_column(name) for name in needed})

    @property
    def has_forms(self) -> bool:
        """Whether words as they are written are terms."""
        return self.segment.has_forms

    def column(self, name: str) -> NDArray[np.unsignedinteger]:
        """Return a column by ordinal."""
        return self._columns[name] if name in self._columns else self._read_column(name)

    def _read_column(self, name: str) -> NDArray[np.unsignedinteger]:
        return np.frombuffer(self._reader.raw(name), dtype_of(name))

    def slices(self) -> Slices:
        """Yield the terms in byte order with their lists, a slice at a time."""
        return self._marked(self._read(read_lists))

    def rated_slices(self) -> Slices:
        """Yield the same terms and lists, with impacts and masks."""
        return self._marked(self._read(read_rated_lists))

    def _marked(self, slices: Slices) -> Slices:
        return slices if self.segment.has_marks else with_marks(slices, self.column("languages"))

    def _read(self, read: Callable[[TermInfos, Window, int], Lists]) -> Slices:
        source = self.segment.open(self._store, TERMS_DATA)
        postings = self.segment.open(self._store, POSTINGS)
        reader = SequenceFileReader(source, read_ahead=READ_AHEAD)
        window = Window(postings, postings.size, READ_AHEAD)
        last = None
        for _, terms, values in reader.strings_from(reader.header.end, source.size):
            with damage_in(source.name):
                last = last_above(last, terms)  # a merge of terms out of order might not end
                infos = read_term_infos(values)
            for start, stop in _cuts(infos):
                with damage_in(postings.name):
                    lists = read(infos.between(start, stop), window, self.documents)
                yield terms.between(start, stop), lists

    def docs(self) -> Values:
        """Yield the packed records of all documents, in the order of rows."""
        data, index = (self.segment.open(self._store, file) for file in (DOCS_DATA, DOCS_INDEX))
        reader = MapFileReader(data, index, read_ahead=READ_AHEAD)
        return self._by_ordinal(reader.stored_blocks(), data.name)

    def links(self) -> Values:
        """Yield the packed links of all documents, in the same order."""
        source = self.segment.open(self._store, LINKS)
        return self._by_ordinal(
            SequenceFileReader(source, read_ahead=READ_AHEAD).stored_blocks(), source.name
        )

    def sketches(self) -> Sketches:
        """Yield the sketches of the documents that have one."""
        source = self.segment.open(self._store, SKETCHES)
        if source.size != SKETCH_BYTES * self.documents:
            raise CorruptFile(source.name, source.size, f"not {SKETCH_BYTES} bytes per document")
        for start in range(0, self.documents, SKETCHES_AT_ONCE):
            count = min(SKETCHES_AT_ONCE, self.documents - start)
            data = source.read(start * SKETCH_BYTES, count * SKETCH_BYTES)
            if len(data) != count * SKETCH_BYTES:
                raise CorruptFile(source.name, start * SKETCH_BYTES, f"{count} sketches should be there")
            rows = [data[at : at + SKETCH_BYTES] for at in range(0, len(data), SKETCH_BYTES)]
            yield np.arange(start, start + len(rows)), rows

    def _by_ordinal(self, blocks: Iterable[StoredBlock], name: str) -> Values:
        rows = self.column("rows")
        ordinals = np.full(self.documents, -1, np.intp)
        ordinals[rows[rows < self.documents]] = np.flatnonzero(rows < self.documents)
        if ordinals.min(initial=0) < 0:
            raise CorruptFile(self.segment.entries[COLUMNS].name, 0, "a row is named twice or out of range")
        for found, block in _numbered(blocks, name, self.documents):
            yield ordinals[found], block


def _cuts(infos: TermInfos) -> Iterator[tuple[int, int]]:
    """Yield the bounds of slices.

    Each slice has SLICE_POSTINGS postings or SLICE_BYTES bytes, or is the last.
    """
    postings = np.cumsum(infos.counts)
    sizes = np.cumsum(infos.documents_bytes + infos.positions_bytes)
    start = 0
    while start < len(postings):
        held, taken = (postings[start - 1], sizes[start - 1]) if start else (0, 0)
        full = np.searchsorted(postings, held + SLICE_POSTINGS), np.searchsorted(sizes, taken + SLICE_BYTES)
        stop = min(*map(int, full), len(postings) - 1) + 1
        yield start, stop
        start = stop


def _columns_of(heads: Iterable[DocHead]) -> dict[str, NDArray[np.unsignedinteger]]:
    rows = [
        (
            stable_hash(head.url),
            min(head.fetched_at, _MAX_U32),
            min(head.latest_date, _MAX_U32),
            *astuple(head.lengths),
            pack_language(head.language),
            len(head.url),
            flags_of(quality_of(head.url, head.lengths, head.signs, head.links)),
            min(max(head.explicit, 0), CLEARLY_EXPLICIT),
        )
        for head in heads
    ]
    columns = list(zip(*rows, strict=True)) or [()] * len(CARRIED)
    return {name: np.array(column, dtype_of(name)) for name, column in zip(CARRIED, columns, strict=True)}


def _numbered(blocks: Iterable[StoredBlock], name: str, documents: int) -> Values:
    """Yield blocks and their keys as numbers.

    Raise CorruptFile unless the keys count all documents from 0 on.
    """
    start = 0
    for block in blocks:
        numbers = np.frombuffer(b"".join(block.keys), ">i8").astype(np.intp)
        if len(numbers) != len(block.keys) or (numbers != np.arange(start, start + len(numbers))).any():
            raise CorruptFile(name, block.offset, "its keys do not count the documents")
        start += len(numbers)
        yield numbers, block
    if start != documents:
        raise CorruptFile(name, 0, f"it has {start} documents, not {documents}")
