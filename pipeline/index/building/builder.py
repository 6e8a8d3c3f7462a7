"""Builds a run: documents go in, the files of a run come out.

Documents wait in a batch until there are enough documents to be cut into words together. Records and links
are compressed at once. Each word takes four bytes of memory until the run is written, and eight bytes while
it is written.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.arrays.malloc import keep_freed_memory
from crawlctl.pipeline.index.building.inversion import (
    MAX_DOCUMENTS,
    inverted,
    lengths_of,
    marked,
    words_of_batch,
)
from crawlctl.pipeline.index.building.keyword_lists import KeywordLists
from crawlctl.pipeline.index.building.vocabulary import MAX_TERMS, Vocabulary
from crawlctl.pipeline.index.runs.run_files import new_run
from crawlctl.pipeline.index.runs.run_writer import StoredFields, StoredFiles, stored_names, write_postings
from crawlctl.pipeline.index.segment.stored_documents import Lengths, encode_document, head_of, record_of
from crawlctl.pipeline.index.segment.stored_links import encode_links

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.building.inversion import Words
    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord, Document
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.text.documents.page import PageDetails

# bytes of text per batch, about 300,000 words: more do not fit into the caches of the CPU
BATCH_BYTES = 2 << 20
MAX_RUN_POSITIONS = 1 << 25

_WORKING_BYTES = 32 << 20  # memory that is needed for a short time while a batch is cut into words
_RECORD_BYTES = 1000  # bytes of a record besides its text, sketch and details
_SECTION_BYTES = 80  # bytes of the objects around the strings of a section
_NO_LENGTHS = Lengths()


class RunBuilder:
    """The documents of one run, in memory until `write` writes them, once."""

    def __init__(self, *, batch_bytes: int = BATCH_BYTES) -> None:
        keep_freed_memory()
        self.documents = 0
        self._batch_bytes = batch_bytes
        self._batch = _Batch(0)
        self._files = [BytesIO() for _ in StoredFiles._fields]
        self._stored = StoredFields(StoredFiles(*self._files))
        self._vocabulary = Vocabulary()
        self._keywords = KeywordLists()
        self._words: list[Words] = []
        self._positions = 0
        self._closed_bytes = 0  # held for the batches that are cut into words
        self._written = False

    @property
    def memory(self) -> int:
        """An estimate of the memory in use, in bytes; writing takes about four bytes per word more."""
        return self._batch.memory + self._keywords.memory + self._closed_bytes + _WORKING_BYTES

    @property
    def full(self) -> bool:
        """Whether the run must be written before another document is added, even if there is memory left."""
        return (
            self.documents >= MAX_DOCUMENTS
            or self._positions + self._batch.bytes > MAX_RUN_POSITIONS
            or len(self._vocabulary) > MAX_TERMS // 2
        )

    def add(self, document: Document) -> int:
        """Add a document and return its ordinal in the run; if it raises, the run is as it was before."""
        if self._written or self.full:
            raise ValueError("the run is written or full; add the document to a new one")
        self._batch.add(document)
        self._keywords.add(self.documents, document)
        self.documents += 1
        if self._batch.bytes >= self._batch_bytes:
            self._close_batch()
        return self.documents - 1

    def write(self, store: Store, *, partition: int, round_number: int) -> tuple[FileEntry, ...]:
        """Write the run and return its files; without documents there are no files."""
        if self._written:
            raise ValueError("the run is written; begin a new one")
        self._written = True
        if not self.documents:
            return ()
        self._close_batch()
        files = new_run(partition, round_number)
        stored = self._write_stored(store, files, partition)
        postings = write_postings(store, files, partition, self._slices(), documents=self.documents)
        return (*stored, *postings)

    def _close_batch(self) -> None:
        batch, self._batch = self._batch, _Batch(self.documents)
        records, groups = batch.cut(self._vocabulary)
        heads = [head_of(record, sketch) for record, sketch in zip(records, batch.sketches, strict=True)]
        self._stored.add_records([encode_document(record) for record in records])
        self._stored.add_heads([encode_document(head) for head in heads], [head.lengths for head in heads])
        self._stored.add_links(batch.links)
        for words in groups:
            self._words.append(words)
            self._positions += len(words.numbers)
        stored = sum(file.__sizeof__() for file in self._files)
        self._closed_bytes = stored + self._vocabulary.memory + sum(words.memory for words in self._words)

    def _write_stored(self, store: Store, files: RunFiles, partition: int) -> tuple[FileEntry, ...]:
        """Copy the files of documents from memory to the store, and free them one by one."""
        self._stored.close()
        written = []
        for name, file in zip(stored_names(files), self._files, strict=True):
            with store.write(name) as sink, file:
                sink.write(file.getbuffer())
            written.append(sink)
        return self._stored.entries(written, partition)

    def _slices(self) -> Iterator[tuple[ByteStrings, Lists]]:
        """Yield the terms and their lists, in the order of terms; the words are consumed."""
        yield from self._keywords.slices()
        terms, ranks = self._vocabulary.sorted_terms()
        for found, lists in inverted(self._drained_words(), ranks, self._vocabulary.stems()):
            if len(found):
                yield terms.take(found), lists

    def _drained_words(self) -> Iterator[Words]:
        """Yield the words batch by batch, so that each can be freed when the next is asked for."""
        while self._words:
            yield self._words.pop(0)


class _Batch:
    """Documents that wait to be cut into words together, in the order of their ordinals from `first` on."""

    def __init__(self, first: int) -> None:
        self.bytes = 0  # bytes of the words
        self.links: list[bytes] = []  # packed
        self.sketches: list[bytes] = []
        self._first = first
        self._records: list[DocRecord] = []
        self._marked: dict[str, list[tuple[int, bytes]]] = {}  # language → index in the batch, words
        self._other_bytes = 0

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        return self.bytes + self._other_bytes

    def add(self, document: Document) -> None:
        """Add the next document; if it raises, the batch is as it was before."""
        links, words, record = (
            encode_links(document.links),
            marked(document),
            record_of(document, _NO_LENGTHS),
        )
        self._marked.setdefault(document.language, []).append((len(self._records), words))
        self._records.append(record)
        self.links.append(links)
        self.sketches.append(document.sketch)
        self.bytes += len(words)
        held = document.text.__sizeof__() + len(document.sketch) + links.__sizeof__()
        self._other_bytes += held + _bytes_of(document.details) + _RECORD_BYTES

    def cut(self, vocabulary: Vocabulary) -> tuple[list[DocRecord], list[Words]]:
        """Return the records, with their lengths, and the words of each language."""
        lengths = [_NO_LENGTHS] * len(self._records)
        groups = []
        for language, documents in self._marked.items():
            indices = [index for index, _ in documents]
            data = b"".join([words for _, words in documents])
            words = words_of_batch(data, [self._first + index for index in indices], language, vocabulary)
            for index, found in zip(indices, lengths_of(words), strict=True):
                lengths[index] = found
            groups.append(words)
        records = [
            msgspec.structs.replace(record, lengths=found)
            for record, found in zip(self._records, lengths, strict=True)
        ]
        return records, groups


def _bytes_of(details: PageDetails) -> int:
    """Return an estimate of the bytes of details, which a page can make as long as its text."""
    texts = (details.description, details.emphasised, *(text for field in details.fields for text in field))
    sections = sum(
        section.anchor.__sizeof__() + section.title.__sizeof__() + _SECTION_BYTES
        for section in details.sections
    )
    return sections + sum(text.__sizeof__() for text in texts)
