"""The frontier segment: pages that were not fetched yet, to be found by their anchors and URLs.

Such a page is a document without a text; its title is the anchor that most pages use for it. There may be
many more such pages than fetched pages, so only the pages with the highest scores are kept.

A merge that knows which pages have changed does not read the other pages. While little has changed, the
segment stays as it is. Its tombstones then mark those of its pages that have left the frontier, and name
pages of the frontier that are missing in it. A small segment is written again, from its own pages and those
that changed. If there were more pages than fit, a later page counts as missing only if its score is above
that of the last page in the segment. Pages that did not fit come in when all pages are read again.
"""

from __future__ import annotations

from heapq import heappush, heappushpop
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from crawlctl.pipeline.formats.sequencefile.block_body import StoredBlock
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.merge.liveness import KeptSegment, NewSegment, checksum
from crawlctl.pipeline.index.merge.sources import RunSource
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.segment.segment_files import COLUMNS
from crawlctl.pipeline.index.segment.stored_documents import Document, decode_record, encode_document
from crawlctl.pipeline.index.segment.tombstones import MISSING_BYTES
from crawlctl.pipeline.processes.scratch import scratch_folder
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.documents.page import PageDetails
from crawlctl.pipeline.text.words.explicit import ExplicitLists
from crawlctl.pipeline.urls.hosts import stable_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.array_types import IndexArray, UInt64Array
    from crawlctl.pipeline.config.settings import IndexSettings
    from crawlctl.pipeline.index.merge.liveness import PageState
    from crawlctl.pipeline.index.merge.page_changes import PageChanges
    from crawlctl.pipeline.index.merge.sources import SegmentSource, Values
    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.tombstones import Tombstones
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

SMALL_FRONTIER = 1000  # pages; writing fewer pages again takes hardly any time
MAX_ANCHORS = 4  # per page: enough to find it, and it bounds the memory of a merge

_MISSING = np.dtype(f"<u{MISSING_BYTES}")
_LEAST_SCORE = "least_score"  # a counter of the columns: the bits of a number that is not negative


class FrontierPages(NamedTuple):
    """The pages of a frontier segment that is to be written, in key order."""

    pages: list[PageState]
    is_full: bool  # whether pages were left out


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

    def add(self, pages: Iterable[PageState]) -> None:
        """Keep the best of the pages that are not live."""
        for _ in self.sift(pages):
            pass

    @property
    def found(self) -> FrontierPages:
        """The pages that were kept."""
        pages = sorted((page for _, _, page in self._heap), key=lambda page: page.key)
        return FrontierPages(pages, is_full=self._met > self._limit > 0)


class KeptFrontier(NamedTuple):
    """A frontier segment that stays, and its tombstones."""

    source: SegmentSource
    tombstones: Tombstones

    @property
    def files(self) -> Iterable[FileEntry]:
        """The files of the segment."""
        return self.source.segment.entries.values()

    @property
    def is_small(self) -> bool:
        """Whether the frontier segment has all pages of the frontier, and these are few."""
        return self.source.documents < SMALL_FRONTIER and least_score(self.source.segment) < 0

    def may_stay(self, max_stale: float, language: str) -> bool:
        """Return whether few of its pages were fetched or have other anchors, and few are missing.

        So a round that fetches little does not index the whole frontier again. Pages that were found since
        can be searched when the frontier is written again, or when they are fetched. A small frontier is
        written again after any change, and if most documents are in another language now.
        """
        if self.is_small:
            return not self.tombstones.stale and self.source.segment.languages.keys() == {language}
        return self.tombstones.stale <= max_stale * self.source.documents


def kept_frontier(source: SegmentSource, pages: Sequence[PageState]) -> KeptFrontier:
    """Return the last frontier segment; `pages` are all pages that should be in it."""
    kept = KeptSegment(source)
    hashes, there = _taken(kept, pages)
    missing = np.delete(hashes, there)
    return KeptFrontier(source, kept.tombstones(_packed_hashes(missing)))


def changed_frontier(source: SegmentSource, before: Tombstones | None, changes: PageChanges) -> KeptFrontier:
    """Return the last frontier segment after pages have changed; `before` are its tombstones until then."""
    kept = KeptSegment(source)
    kept.as_before(before)
    kept.forget(changes.hashes)
    pages = [page for page in changes.states if not page.live and page.anchors]
    hashes, there = _taken(kept, pages)
    least = least_score(source.segment)
    found_since = np.array([page.score > least for page in pages], np.bool_)
    found_since[there] = False
    old = np.frombuffer(before.missing if before else b"", _MISSING)
    old = np.setdiff1d(old, changes.hashes.astype(_MISSING))
    missing = np.union1d(old, hashes[found_since].astype(_MISSING))
    return KeptFrontier(source, kept.tombstones(_packed_hashes(missing)))


def _taken(kept: KeptSegment, pages: Sequence[PageState]) -> tuple[UInt64Array, IndexArray]:
    """Take the pages that the segment has; return the hashes of all pages, and which pages it has."""
    hashes = np.fromiter((stable_hash(page.url) for page in pages), np.uint64, len(pages))
    found, there = kept.source.find(hashes)
    kept.take(
        there, np.array([checksum(pages[at].anchors[:MAX_ANCHORS]) for at in found.tolist()], np.uint32)
    )
    return hashes, found


def _packed_hashes(hashes: NDArray[np.unsignedinteger]) -> bytes:
    return np.unique(hashes.astype(_MISSING)).tobytes()


def least_score(segment: Segment) -> float:
    """Return the lowest score of a page in a frontier segment; -1 if the segment has all pages."""
    bits = segment.entries[COLUMNS].counters.get(_LEAST_SCORE)
    return -1.0 if bits is None else float(np.int64(bits).view(np.float64))


def write_frontier(
    store: Store,
    found: FrontierPages,
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
    pages = found.pages
    if not pages:
        return ()
    with scratch_folder() as folder:
        own = LocalStore(folder, synced=False)
        titles = {page.url.decode(): page.anchors[0] for page in pages}
        explicit = ExplicitLists(settings.explicit_words, settings.explicit_hosts)
        sources = [_Titled(own, run, titles) for run in runs_of(_runs(own, pages, language, explicit))]
        segment = NewSegment(sources, settings.memory // 4, frontier=True)
        ends = np.cumsum([source.documents for source in sources])
        owners = np.repeat(np.arange(len(sources)), np.diff(ends, prepend=0))
        ordinals = np.concatenate([np.arange(source.documents, dtype=np.int32) for source in sources])
        segment.take(pages, owners, ordinals)
        files = segment.write(store, averages, settings, partition=partition, round_number=round_number)
    if not found.is_full:
        return files
    return tuple(_with_least(entry, pages) if entry.name.endswith(COLUMNS) else entry for entry in files)


def _with_least(columns: FileEntry, pages: Sequence[PageState]) -> FileEntry:
    """Return the entry of the columns of a frontier that is full, with the lowest score of a page in it."""
    bits = int(np.float64(max(0.0, min(page.score for page in pages))).view(np.int64))
    return replace(columns, counters={**columns.counters, _LEAST_SCORE: bits})


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
