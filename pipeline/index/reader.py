"""Reads a run: for merging, for tests, and for whoever wants to look inside; plain Python, without numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.writables import pack_long, unpack_long
from crawlctl.pipeline.index.documents import decode_record
from crawlctl.pipeline.index.files import DOCUMENTS_KEY, MAX_POSTINGS_BLOCK_BYTES
from crawlctl.pipeline.index.links import decode_links
from crawlctl.pipeline.index.postings import decode_list

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.index.documents import DocRecord
    from crawlctl.pipeline.index.files import RunFiles
    from crawlctl.pipeline.index.links import OutLinks
    from crawlctl.pipeline.index.postings import PostingList
    from crawlctl.pipeline.store.base import Store


class RunReader:
    """The files of one run; each is opened when it is first asked for, and a damaged one is a CorruptFile."""

    def __init__(self, store: Store, files: RunFiles) -> None:
        self._store = store
        self._files = files
        self._docs = MapFileReader(store.open(files.docs_data), store.open(files.docs_index))
        self._postings = MapFileReader(
            store.open(files.postings_data),
            store.open(files.postings_index),
            max_block_bytes=MAX_POSTINGS_BLOCK_BYTES,
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

    def links(self) -> Iterator[tuple[int, OutLinks]]:
        """Yield the ordinals of all documents and their links."""
        source = self._store.open(self._files.links)
        for block in SequenceFileReader(source).blocks():
            for key, value in zip(block.keys, block.values, strict=True):
                yield unpack_long(key), decode_links(value, source.name, block.offset)

    def postings(self, field: str, term: bytes) -> PostingList | None:
        """Return the posting list of a term in a field."""
        value = self._postings.get(field.encode() + b":" + term)
        return None if value is None else self._decoded(value, 0)

    def terms(self, start: bytes | None = None, stop: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Yield each `field:term` with its packed list, from key `start` on and below key `stop`."""
        return self._postings.range(start, stop)

    def lists(self) -> Iterator[tuple[bytes, PostingList]]:
        """Yield each `field:term` with its list, in byte order."""
        for block in self._postings.blocks():
            for key, value in zip(block.keys, block.values, strict=True):
                yield key, self._decoded(value, block.offset)

    def _decoded(self, value: bytes, offset: int) -> PostingList:
        try:
            return decode_list(value, self.documents)
        except ValueError as err:
            raise CorruptFile(self._store.locate(self._files.postings_data), offset, str(err)) from err
