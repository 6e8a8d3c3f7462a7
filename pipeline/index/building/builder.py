"""Builds a run: documents go in, the files of a run come out.

Documents and links are compressed as they come. Of each word four bytes are held until the run is written,
which takes eight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.arrays.malloc import keep_freed_memory
from crawlctl.pipeline.index.building.batch import Batch
from crawlctl.pipeline.index.building.inversion import MAX_DOCUMENTS
from crawlctl.pipeline.index.building.run_postings import RunWords, write_postings
from crawlctl.pipeline.index.building.vocabulary import MAX_TERMS, Vocabulary
from crawlctl.pipeline.index.runs.run_files import new_run
from crawlctl.pipeline.index.runs.run_writer import StoredDocuments
from crawlctl.pipeline.index.segment.stored_links import encode_links

if TYPE_CHECKING:
    from crawlctl.pipeline.index.building.batch_words import Words
    from crawlctl.pipeline.index.segment.stored_documents import Document
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

BATCH_BYTES = 2 << 20  # of text, some 300,000 words: more no longer fit the caches
MAX_RUN_POSITIONS = 1 << 25

_WORKING_BYTES = 32 << 20  # what cutting a batch into words takes for a moment


class RunBuilder:
    """The documents of one run, to be written once."""

    def __init__(self, *, batch_bytes: int = BATCH_BYTES) -> None:
        keep_freed_memory()
        self.documents = 0
        self._batch_bytes = batch_bytes
        self._batch = Batch(0)
        self._stored = StoredDocuments()
        self._vocabulary = Vocabulary()
        self._words: list[Words] = []
        self._positions = 0
        self._words_bytes = 0
        self._written = False

    @property
    def memory(self) -> int:
        """An estimate of the bytes held and worked with; writing takes some four bytes a word more."""
        held = self._batch.memory + self._stored.memory + self._vocabulary.memory
        return held + self._words_bytes + _WORKING_BYTES

    @property
    def full(self) -> bool:
        """Whether the run has to be written before another document is added, whatever memory is left."""
        return (
            self.documents >= MAX_DOCUMENTS
            or self._positions + self._batch.bytes > MAX_RUN_POSITIONS
            or len(self._vocabulary) > MAX_TERMS // 2
        )

    def add(self, document: Document) -> int:
        """Add a document and return its ordinal in the run; one that cannot be added leaves no trace."""
        if self._written or self.full:
            raise ValueError("the run is written or full; add the document to a new one")
        links = encode_links(document.links)
        self._batch.add(document)
        self._stored.add_links(links, document.links)
        self.documents += 1
        if self._batch.bytes >= self._batch_bytes:
            self._close_batch()
        return self.documents - 1

    def write(self, store: Store, *, partition: int, round_number: int) -> tuple[FileEntry, ...]:
        """Write the run and return its files; where there are no documents, no files."""
        if self._written:
            raise ValueError("the run is written; begin a new one")
        self._written = True
        if not self.documents:
            return ()
        self._close_batch()
        files = new_run(partition, round_number)
        stored = self._stored.write(store, files, partition)
        words = RunWords(self.documents, self._vocabulary, self._words)
        return (*stored, *write_postings(store, files, partition, words))

    def _close_batch(self) -> None:
        records, groups = self._batch.cut(self._vocabulary)
        self._stored.add_records(records)
        for words in groups:
            self._words.append(words)
            self._positions += len(words.numbers)
            self._words_bytes += words.memory
        self._batch = Batch(self.documents)
