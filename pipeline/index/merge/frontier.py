"""The frontier segment: pages that were not fetched yet, to be found by their anchors and URLs.

Such a page is a document without a text; its title is the anchor that most pages use for it. There may be
many more of these pages than fetched ones, so only the pages with the highest scores are kept.
"""

from __future__ import annotations

from heapq import heappush, heappushpop
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from crawlctl.pipeline.formats.sequencefile.block_body import StoredBlock
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.merge.liveness import KeptSegment, NewSegment, checksum
from crawlctl.pipeline.index.merge.sources import RunSource
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.segment.stored_documents import Document, decode_record, encode_document
from crawlctl.pipeline.processes.scratch import scratch_folder
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.documents.page import PageDetails
from crawlctl.pipeline.text.words.explicit import ExplicitLists
from crawlctl.pipeline.urls.hosts import stable_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.config.settings import IndexSettings
    from crawlctl.pipeline.index.merge.liveness import PageState
    from crawlctl.pipeline.index.merge.sources import SegmentSource, Values
    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

SMALL_FRONTIER = 1000  # pages; to write fewer again takes no time
MAX_ANCHORS = 4  # per page: enough to find it, and it bounds the memory of a merge


class Frontier:
    """The pages with the highest scores that were not fetched yet, at most `limit` of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._heap: list[tuple[float, int, PageState]] = []  # among equal scores the first pages stay
        self._met = 0

    def sift(self, pages: Iterable[PageState]) -> Iterator[PageState]:
        """Yield the live pages, and keep the best of the other pages."""
        for page in pages:
            if page.live:
                yield page
            elif page.anchors and self._limit:
                self._met += 1
                item = (page.score, -self._met, page._replace(anchors=page.anchors[:MAX_ANCHORS]))
                (heappush if len(self._heap) < self._limit else heappushpop)(self._heap, item)

    def pages(self) -> list[PageState]:
        """Return the pages that were kept, in key order."""
        return sorted((page for _, _, page in self._heap), key=lambda page: page.key)


def still_fitting(
    source: SegmentSource, pages: Sequence[PageState], settings: IndexSettings
) -> KeptSegment | None:
    """Return the last frontier segment with its tombstones if it may stay, None if it is to be written again.

    It stays while few of its pages were fetched since or have other anchors, and few are missing
    (index.max_stale). So a round that fetches little does not index the whole frontier again. Pages that
    were found since can be searched once it is written again, or they are fetched.
    """
    if source.documents < SMALL_FRONTIER:
        return None
    kept = KeptSegment(source)
    hashes = np.fromiter((stable_hash(page.url) for page in pages), np.uint64, len(pages))
    found, there = source.find(hashes)
    kept.take(there, np.array([checksum(pages[at].anchors) for at in found.tolist()], np.uint32))
    tombstones = kept.tombstones()
    stale = tombstones.dead + tombstones.reanchored + len(pages) - len(found)
    return kept if stale <= settings.max_stale * source.documents else None


def write_frontier(
    store: Store,
    pages: Sequence[PageState],
    language: str,
    averages: Sequence[float],
    settings: IndexSettings,
    *,
    partition: int,
    round_number: int,
) -> tuple[FileEntry, ...]:
    """Write the frontier segment; without pages there are no files.

    The language of an anchor is unknown; `language` is the one that most documents have.
    """
    if not pages:
        return ()
    with scratch_folder() as folder:
        own = LocalStore(folder)
        titles = {page.url.decode(): page.anchors[0] for page in pages}
        explicit = ExplicitLists(settings.explicit_words, settings.explicit_hosts)
        sources = [_Titled(own, run, titles) for run in runs_of(_runs(own, pages, language, explicit))]
        segment = NewSegment(sources, settings.memory // 4, frontier=True)
        ends = np.cumsum([source.documents for source in sources])
        owners = np.repeat(np.arange(len(sources)), np.diff(ends, prepend=0))
        ordinals = np.concatenate([np.arange(source.documents, dtype=np.int32) for source in sources])
        segment.take(pages, owners, ordinals)
        return segment.write(store, averages, settings, partition=partition, round_number=round_number)


class _Titled(RunSource):
    """A run whose records get titles that are not indexed as words."""

    def __init__(self, store: Store, files: RunFiles, titles: dict[str, str]) -> None:
        super().__init__(store, files)
        self._titles = titles

    def docs(self) -> Values:
        """Yield the packed records of all documents, with their titles."""
        for ordinals, values in super().docs():
            held = values.values() if isinstance(values, StoredBlock) else values
            records = map(decode_record, held)
            yield (
                ordinals,
                [encode_document(replace(record, title=self._titles[record.url])) for record in records],
            )


def _runs(
    store: Store, pages: Iterable[PageState], language: str, explicit: ExplicitLists
) -> Iterator[FileEntry]:
    """Write the pages as runs, whose names are in the order of the pages."""
    number = 0
    builder = RunBuilder()
    for page in pages:
        if builder.full:
            yield from builder.write(store, partition=0, round_number=number)
            builder, number = RunBuilder(), number + 1
        url = page.url.decode()
        details = PageDetails(explicit=explicit.rating(url, headings=page.anchors))
        builder.add(Document(url, language=language, details=details))
    yield from builder.write(store, partition=0, round_number=number)
