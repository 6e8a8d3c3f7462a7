"""Reads a run: for merging, for tests, and for whoever wants to look inside."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.sequencefile.writables import pack_long, unpack_long
from crawlctl.pipeline.formats.window import READ_AHEAD
from crawlctl.pipeline.index.runs.posting_slices import decode_slice, plain_lists
from crawlctl.pipeline.index.runs.run_files import DOCUMENTS_KEY, MAX_POSTINGS_BLOCK_BYTES
from crawlctl.pipeline.index.segment.stored_documents import decode_head, decode_record
from crawlctl.pipeline.index.segment.stored_links import decode_links

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.runs.posting_slices import Lists, PostingList
    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.index.segment.stored_documents import DocHead, DocRecord
    from crawlctl.pipeline.index.segment.stored_links import OutLinks
    from crawlctl.pipeline.store.base import Store


class RunReader:
    """The files of one run; each is opened when it is first asked for, and a damaged one is a CorruptFile."""

    def __init__(self, store: Store, files: RunFiles, *, read_ahead: int = READ_AHEAD) -> None:
        self._store = store
        self._files = files
        self._read_ahead = read_ahead
        self._docs = MapFileReader(store.open(files.docs_data), store.open(files.docs_index))
        self._postings = MapFileReader(
            store.open(files.postings_data),
            store.open(files.postings_index),
            max_block_bytes=MAX_POSTINGS_BLOCK_BYTES,
            read_ahead=read_ahead,
        )

    @property
    def documents(self) -> int:
        """The number of documents."""
        count = self._postings.header.metadata.get(DOCUMENTS_KEY, "")
        if not (count.isascii() and count.isdigit()):
            name = self._store.locate(self._files.postings_data)
            raise CorruptFile(name, 0, "its header does not say how many documents the run has")
        return int(count)

    def record(self, ordinal: int) -> DocRecord | None:
        """Return the record of a document."""
        value = self._docs.get(pack_long(ordinal))
        return None if value is None else decode_record(value, self._store.locate(self._files.docs_data))

    def records(self) -> Iterator[tuple[int, DocRecord]]:
        """Yield the ordinals and records of all documents."""
        name = self._store.locate(self._files.docs_data)
        for block in self._docs.blocks():
            for key, value in zip(block.keys, block.values, strict=True):
                yield unpack_long(key), decode_record(value, name, block.offset)

    def heads(self) -> Iterator[tuple[int, DocHead]]:
        """Yield the ordinals and heads of all documents."""
        source = self._store.open(self._files.docs_heads)
        for block in SequenceFileReader(source, read_ahead=self._read_ahead).blocks():
            for key, value in zip(block.keys, block.values, strict=True):
                yield unpack_long(key), decode_head(value, source.name, block.offset)

    def links(self) -> Iterator[tuple[int, OutLinks]]:
        """Yield the ordinals of all documents and their links."""
        source = self._store.open(self._files.links)
        for block in SequenceFileReader(source).blocks():
            for key, value in zip(block.keys, block.values, strict=True):
                yield unpack_long(key), decode_links(value, source.name, block.offset)

    def slices(self) -> Iterator[tuple[ByteStrings, Lists]]:
        """Yield all terms in byte order with their lists, as numpy holds them, many at a time."""
        from crawlctl.pipeline.arrays.byte_strings import last_above

        documents, last = self.documents, None
        for block in self._postings.blocks():
            for value in block.values:
                with self._naming(block.offset):
                    terms, lists = decode_slice(value, documents)
                    last = last_above(last, terms)
                yield terms, lists

    def lists(self) -> Iterator[tuple[bytes, PostingList]]:
        """Yield each term with its list, in byte order."""
        for terms, lists in self.slices():
            yield from zip(terms, plain_lists(lists), strict=True)

    @contextmanager
    def _naming(self, offset: int) -> Iterator[None]:
        """Name the file of postings, and the offset of the block, in what goes wrong within it."""
        try:
            yield
        except ValueError as err:
            raise CorruptFile(self._store.locate(self._files.postings_data), offset, str(err)) from err
