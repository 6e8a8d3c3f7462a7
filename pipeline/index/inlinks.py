"""Which pages link to a URL: found by looking for its hash in all links there are.

No table leads from a URL to the pages that link to it: it would be as large as the links themselves, and be
written anew with every merge, for a question asked now and then. The hash is eight bytes, and the links of a
block are searched for them as bytes, not decoded.
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

    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


class Held(NamedTuple):
    """Links and documents under the same numbers: the ordinals of a run, or the places of a segment."""

    links: RangedSource
    docs: MapFileReader
    name: str  # of the documents, for errors

    def record(self, number: bytes) -> DocRecord:
        """Return the document that has the links of a number."""
        value = self.docs.get(number)
        if value is None:
            raise CorruptFile(self.name, 0, f"no document {int.from_bytes(number, 'big')}, but links of it")
        return decode_record(value, self.name)


class InLink(NamedTuple):
    """A document that links to a URL, and whether it vouches for it."""

    record: DocRecord
    nofollow: bool


def held_in(store: Store, entries: Iterable[FileEntry]) -> Iterator[Held]:
    """Yield what the runs and segments of a manifest or snapshot hold."""
    files = tuple(entries)
    for run in runs_of(files):
        docs = MapFileReader(store.open(run.docs_data), store.open(run.docs_index))
        yield Held(store.open(run.links), docs, store.locate(run.docs_data))
    for segment in segments_of(files):
        docs = MapFileReader(segment.open(store, DOCS_DATA), segment.open(store, DOCS_INDEX))
        yield Held(segment.open(store, LINKS), docs, segment.open(store, DOCS_DATA).name)


def inlinks(held: Iterable[Held], url: str) -> Iterator[InLink]:
    """Yield the documents that link to a URL, of a page that was fetched twice both versions."""
    target = stable_hash(url).to_bytes(8, "big")
    for one in held:
        for block in SequenceFileReader(one.links).blocks():
            if target not in b"".join(block.values):  # so it is with most blocks
                continue
            for number, value in zip(block.keys, block.values, strict=True):
                # It may also lie across two links; decoding tells.
                if target in value:
                    links = decode_links(value, one.links.name, block.offset)
                    wanted = int.from_bytes(target, "big")
                    if wanted in links.targets:
                        yield InLink(one.record(number), links.nofollow[links.targets.index(wanted)])
