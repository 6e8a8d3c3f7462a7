"""What a segment is made of: runs and older segments, seen alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import astuple

from crawlctl.pipeline.arrays.byte_strings import last_above
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.window import Window
from crawlctl.pipeline.index.fields import PAGE_FIELDS
from crawlctl.pipeline.index.runs.run_reader import RunReader
from crawlctl.pipeline.index.segment.columns import COLUMNS as WIDTHS
from crawlctl.pipeline.index.segment.columns import ColumnReader, pack_language
from crawlctl.pipeline.index.segment.postings.bulk_lists import read_lists, read_places, read_rated
from crawlctl.pipeline.index.segment.segment_files import (
    COLUMNS,
    DOCS_DATA,
    DOCS_INDEX,
    LINKS,
    POSTINGS,
    SKETCHES,
    TERMS_DATA,
)
from crawlctl.pipeline.state.layout import round_of
from crawlctl.pipeline.text.likeness.fingerprint import SKETCH_BYTES
from crawlctl.pipeline.urls.hosts import stable_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeVar

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.formats.sequencefile.block_body import StoredBlock
    from crawlctl.pipeline.index.runs.posting_slices import Lists, Rated
    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.index.segment.postings.bulk_lists import Places
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.stored_documents import DocHead
    from crawlctl.pipeline.store.base import Store

    _Read = TypeVar("_Read", Lists, Rated)
    Slices = Iterator[tuple[ByteStrings, Lists]]
    # Of the documents with these ordinals; a block is copied as it is where all its documents stay.
    Values = Iterator[tuple[NDArray[np.intp], list[bytes] | StoredBlock]]
    Sketches = Iterator[tuple[NDArray[np.intp], list[bytes]]]

READ_AHEAD = 512 << 10  # of each file; a merge reads many at once
SLICE_POSTINGS = 60_000
SLICE_BYTES = 160 << 10
SKETCHES_AT_ONCE = 4096

# The columns that a document takes along; the others are made anew.
IDENTIFYING = ("hashes", "fetched")
CARRIED = (*IDENTIFYING, "modified", *PAGE_FIELDS, "languages", "characters")
_MAX_U32 = (1 << 32) - 1


def dtype_of(column: str) -> np.dtype[np.unsignedinteger]:
    """Return how the numbers of a column lie in its file."""
    return np.dtype(f"<u{WIDTHS[column]}")


class Source(ABC):
    """Documents with their columns, and all that belongs to them by ordinal."""

    is_run = False

    def __init__(self, name: str, columns: Mapping[str, NDArray[np.unsignedinteger]]) -> None:
        self.name = name
        self.columns = columns
        self.documents = len(columns["hashes"])
        # By URL, of several versions of one the newest last.
        self._order = np.lexsort((columns["fetched"], columns["hashes"])).astype(np.int32)
        self._hashes = columns["hashes"][self._order]

    def find(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """Return which of the URLs it has, by their places, and the ordinals of their documents."""
        if not self.documents:
            return np.zeros(0, np.intp), np.zeros(0, np.int32)
        last = np.searchsorted(self._hashes, hashes, side="right") - 1
        found = np.flatnonzero((last >= 0) & (self._hashes[last] == hashes))
        return found, self._order[last[found]]

    @property
    def age(self) -> tuple[int, bool]:
        """What sorts sources by when their documents came: the round, and a segment before its runs."""
        return round_of(self.name), self.is_run

    @abstractmethod
    def slices(self) -> Slices:
        """Yield the terms in byte order with their lists, many at a time."""

    @abstractmethod
    def docs(self) -> Values:
        """Yield the packed records of all documents, in the order in which they lie."""

    @abstractmethod
    def links(self) -> Values:
        """Yield the packed links of all documents, in the same order."""

    @abstractmethod
    def sketches(self) -> Sketches:
        """Yield the sketches of the documents that have any."""


class RunSource(Source):
    """A run; its columns are gathered from the heads of its documents."""

    is_run = True

    def __init__(self, store: Store, files: RunFiles) -> None:
        self._reader = RunReader(store, files, read_ahead=READ_AHEAD)
        self._docs = MapFileReader(
            store.open(files.docs_data), store.open(files.docs_index), read_ahead=READ_AHEAD
        )
        self._docs_name = store.locate(files.docs_data)
        self._links = store.open(files.links)
        super().__init__(files.links, _columns_of(head for _, head in self._reader.heads()))

    def slices(self) -> Slices:
        """Yield the terms in byte order with their lists, many at a time."""
        return self._reader.slices()

    def docs(self) -> Values:
        """Yield the packed records of all documents, in the order in which they lie."""
        return _numbered(self._docs.stored_blocks(), self._docs_name, self.documents)

    def links(self) -> Values:
        """Yield the packed links of all documents, in the same order."""
        reader = SequenceFileReader(self._links, read_ahead=READ_AHEAD)
        return _numbered(reader.stored_blocks(), self._links.name, self.documents)

    def sketches(self) -> Sketches:
        """Yield the sketches of the documents that have any."""
        having = ((number, head.similarity) for number, head in self._reader.heads() if head.similarity)
        while some := list(islice(having, SKETCHES_AT_ONCE)):
            whole = [(number, sketch) for number, sketch in some if len(sketch) == SKETCH_BYTES]
            yield np.array([number for number, _ in whole], np.intp), [sketch for _, sketch in whole]


class SegmentSource(Source):
    """An older segment."""

    def __init__(self, store: Store, segment: Segment, *, stays: bool = False) -> None:
        self.segment = segment
        self._store = store
        self._columns = ColumnReader(segment.open(store, COLUMNS), segment.documents)
        self._columns.check()
        needed = IDENTIFYING if stays else CARRIED
        super().__init__(segment.name, {name: self.column(name) for name in needed})

    def column(self, name: str) -> NDArray[np.unsignedinteger]:
        """Return a column."""
        return np.frombuffer(self._columns.raw(name), dtype_of(name))

    def slices(self) -> Slices:
        """Yield the terms in byte order with their lists, many at a time."""
        return self._read(read_lists)

    def rated_slices(self) -> Iterator[tuple[ByteStrings, Rated]]:
        """Yield the same with impacts and masks."""
        return self._read(read_rated)

    def _read(self, read: Callable[[Places, Window, int], _Read]) -> Iterator[tuple[ByteStrings, _Read]]:
        source = self.segment.open(self._store, TERMS_DATA)
        postings = self.segment.open(self._store, POSTINGS)
        reader = SequenceFileReader(source, read_ahead=READ_AHEAD)
        window = Window(postings, postings.size, READ_AHEAD)
        last = None
        for _, terms, values in reader.strings_from(reader.header.end, source.size):
            with _naming(source.name):
                last = last_above(last, terms)  # a merge of terms out of order might not end
                places = read_places(values)
            for start, stop in _cuts(places):
                with _naming(postings.name):
                    lists = read(places.part(start, stop), window, self.documents)
                yield terms.part(start, stop), lists

    def docs(self) -> Values:
        """Yield the packed records of all documents, in the order in which they lie."""
        data, index = (self.segment.open(self._store, part) for part in (DOCS_DATA, DOCS_INDEX))
        reader = MapFileReader(data, index, read_ahead=READ_AHEAD)
        return self._placed(reader.stored_blocks(), data.name)

    def links(self) -> Values:
        """Yield the packed links of all documents, in the same order."""
        source = self.segment.open(self._store, LINKS)
        return self._placed(SequenceFileReader(source, read_ahead=READ_AHEAD).stored_blocks(), source.name)

    def sketches(self) -> Sketches:
        """Yield the sketches of the documents that have any."""
        source = self.segment.open(self._store, SKETCHES)
        if source.size != SKETCH_BYTES * self.documents:
            raise CorruptFile(source.name, source.size, f"not {SKETCH_BYTES} bytes for each document")
        for start in range(0, self.documents, SKETCHES_AT_ONCE):
            count = min(SKETCHES_AT_ONCE, self.documents - start)
            data = source.read(start * SKETCH_BYTES, count * SKETCH_BYTES)
            if len(data) != count * SKETCH_BYTES:
                raise CorruptFile(source.name, start * SKETCH_BYTES, f"{count} sketches should be there")
            rows = [data[at : at + SKETCH_BYTES] for at in range(0, len(data), SKETCH_BYTES)]
            yield np.arange(start, start + len(rows)), rows

    def _placed(self, blocks: Iterable[StoredBlock], name: str) -> Values:
        places = self.column("places")
        ordinals = np.full(self.documents, -1, np.intp)
        ordinals[places[places < self.documents]] = np.flatnonzero(places < self.documents)
        if ordinals.min(initial=0) < 0:
            raise CorruptFile(self.segment.entries[COLUMNS].name, 0, "a place is taken twice or out of range")
        for found, block in _numbered(blocks, name, self.documents):
            yield ordinals[found], block


def _cuts(places: Places) -> Iterator[tuple[int, int]]:
    """Yield where slices begin and end, each with as many postings or bytes as a slice has."""
    postings = np.cumsum(places.counts)
    sizes = np.cumsum(places.documents_bytes + places.positions_bytes)
    start = 0
    while start < len(postings):
        held, taken = (postings[start - 1], sizes[start - 1]) if start else (0, 0)
        full = np.searchsorted(postings, held + SLICE_POSTINGS), np.searchsorted(sizes, taken + SLICE_BYTES)
        stop = min(*map(int, full), len(postings) - 1) + 1
        yield start, stop
        start = stop


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Name a file in what goes wrong with what it holds."""
    try:
        yield
    except ValueError as err:
        raise CorruptFile(name, 0, str(err)) from err


def _columns_of(heads: Iterable[DocHead]) -> dict[str, NDArray[np.unsignedinteger]]:
    rows = [
        (
            stable_hash(head.url),
            min(head.fetched_at, _MAX_U32),
            min(head.last_modified, _MAX_U32),
            *astuple(head.lengths),
            pack_language(head.language),
            len(head.url),
        )
        for head in heads
    ]
    columns = list(zip(*rows, strict=True)) or [()] * len(CARRIED)
    return {name: np.array(column, dtype_of(name)) for name, column in zip(CARRIED, columns, strict=True)}


def _numbered(blocks: Iterable[StoredBlock], name: str, documents: int) -> Values:
    """Yield the numbers of documents and their blocks, whose keys count from 0 to the number of documents."""
    start = 0
    for block in blocks:
        numbers = np.frombuffer(b"".join(block.keys), ">i8").astype(np.intp)
        if len(numbers) != len(block.keys) or (numbers != np.arange(start, start + len(numbers))).any():
            raise CorruptFile(name, block.offset, "its keys do not count the documents")
        start += len(numbers)
        yield numbers, block
    if start != documents:
        raise CorruptFile(name, 0, f"it has {start} documents, not {documents}")
