"""Finds the documents that link to a URL, by a search for its hash in all links.

There is no table from a URL to the pages that link to it: it would be as large as the links themselves, and
every merge would have to rewrite it, although it would be used rarely. The hash takes eight bytes, and the
links of a block are searched for these bytes without being decoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.segment.segment_files import DOCS_DATA, DOCS_INDEX, LINKS, segments_of
from crawlctl.pipeline.index.segment.stored_documents import decode_record
from crawlctl.pipeline.index.segment.stored_links import decode_links
from crawlctl.pipeline.urls.hosts import stable_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


class StoredLinks(NamedTuple):
    """The links and the documents of a run or segment, which have the same keys: ordinals or rows."""

    links: RangedSource
    docs: MapFileReader
    name: str  # the name of the file of documents, for error messages

    def record(self, key: bytes) -> DocRecord:
        """Return the document that has the links under this key."""
        value = self.docs.get(key)
        if value is None:
            raise CorruptFile(self.name, 0, f"no document {int.from_bytes(key, 'big')}, but links of it")
        return decode_record(value, self.name)


class InLink(NamedTuple):
    """A document that links to a URL, and whether the link is nofollow."""

    record: DocRecord
    nofollow: bool


def stored_links(store: Store, entries: Iterable[FileEntry]) -> Iterator[StoredLinks]:
    """Yield the links of the runs and segments among some files."""
    files = tuple(entries)
    for run in runs_of(files):
        docs = MapFileReader(store.open(run.docs_data), store.open(run.docs_index))
        yield StoredLinks(store.open(run.links), docs, store.locate(run.docs_data))
    for segment in segments_of(files):
        docs = MapFileReader(segment.open(store, DOCS_DATA), segment.open(store, DOCS_INDEX))
        yield StoredLinks(segment.open(store, LINKS), docs, segment.open(store, DOCS_DATA).name)


def inlinks(stored: Iterable[StoredLinks], url: str) -> Iterator[InLink]:
    """Yield the documents that link to a URL; a page that was fetched twice may be yielded twice."""
    target = stable_hash(url).to_bytes(8, "big")
    for one in stored:
        for block in SequenceFileReader(one.links).blocks():
            if target in b"".join(block.values):  # a quick check, which rules out most blocks
                yield from _inlinks_in(block, target, one)


def _inlinks_in(block: Block, target: bytes, stored: StoredLinks) -> Iterator[InLink]:
    number = int.from_bytes(target, "big")
    for key, value in zip(block.keys, block.values, strict=True):
        if target in value:  # the bytes may lie across two links, so the links are decoded
            links = decode_links(value, stored.links.name, block.offset)
            if number in links.targets:
                yield InLink(stored.record(key), links.nofollow[links.targets.index(number)])
