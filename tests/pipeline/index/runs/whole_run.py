"""All of a run at once, as tests look at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.sequencefile.writables import pack_long, unpack_long
from crawlctl.pipeline.index.runs.posting_slices import plain_lists
from crawlctl.pipeline.index.runs.run_heads import read_heads
from crawlctl.pipeline.index.runs.run_postings import RunPostings
from crawlctl.pipeline.index.segment.stored_documents import decode_record
from crawlctl.pipeline.index.segment.stored_links import decode_links

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.index.runs.posting_slices import PostingList
    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.index.segment.stored_documents import DocHead, DocRecord
    from crawlctl.pipeline.index.segment.stored_links import OutLinks
    from crawlctl.pipeline.store.base import Store


class WholeRun(RunPostings):
    """The documents, heads, links and lists of a run."""

    def __init__(self, store: Store, files: RunFiles) -> None:
        super().__init__(store, files)
        self._store = store
        self._files = files

    def record(self, ordinal: int) -> DocRecord | None:
        files = self._store.open(self._files.docs_data), self._store.open(self._files.docs_index)
        value = MapFileReader(*files).get(pack_long(ordinal))
        return None if value is None else decode_record(value)

    def records(self) -> dict[int, DocRecord]:
        table = SequenceFileReader(self._store.open(self._files.docs_data))
        return {unpack_long(key): decode_record(value) for key, value in table}

    def heads(self) -> list[DocHead]:
        return [head for _, head in read_heads(self._store, self._files.docs_heads)]

    def links(self) -> list[OutLinks]:
        return [decode_links(value) for _, value in SequenceFileReader(self._store.open(self._files.links))]

    def lists(self) -> Iterator[tuple[bytes, PostingList]]:
        for terms, lists in self.slices():
            yield from zip(terms, plain_lists(lists), strict=True)
