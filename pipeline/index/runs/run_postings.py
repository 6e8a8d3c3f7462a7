"""Reads the posting lists of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.arrays.byte_strings import last_above
from crawlctl.pipeline.errors import CorruptFile, damage_in
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.window import READ_AHEAD
from crawlctl.pipeline.index.runs.posting_slices import decode_slice
from crawlctl.pipeline.index.runs.run_files import (
    DOCUMENTS_KEY,
    FORMS_KEY,
    MARKS_KEY,
    MAX_POSTINGS_BLOCK_BYTES,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
    from crawlctl.pipeline.store.base import Store


class RunPostings:
    """The posting lists of one run; raises CorruptFile if its files are damaged."""

    def __init__(self, store: Store, files: RunFiles, *, read_ahead: int = READ_AHEAD) -> None:
        self._name = store.locate(files.postings_data)
        self._postings = MapFileReader(
            store.open(files.postings_data),
            store.open(files.postings_index),
            max_block_bytes=MAX_POSTINGS_BLOCK_BYTES,
            read_ahead=read_ahead,
        )

    @property
    def documents(self) -> int:
        """The number of documents of the run."""
        count = self._postings.header.metadata.get(DOCUMENTS_KEY, "")
        if not (count.isascii() and count.isdigit()):
            raise CorruptFile(self._name, 0, "its header does not say how many documents the run has")
        return int(count)

    @property
    def has_marks(self) -> bool:
        """Whether its terms are marked with their language; those of older versions are not."""
        return MARKS_KEY in self._postings.header.metadata

    @property
    def has_forms(self) -> bool:
        """Whether words as they are written are terms; not in runs of older versions."""
        return FORMS_KEY in self._postings.header.metadata

    def slices(self) -> Iterator[tuple[ByteStrings, Lists]]:
        """Yield all terms in byte order with their lists, a slice at a time."""
        documents, last = self.documents, None
        for block in self._postings.blocks():
            for value in block.values:
                with damage_in(self._name, block.offset):
                    terms, lists = decode_slice(value, documents)
                    last = last_above(last, terms)
                yield terms, lists
