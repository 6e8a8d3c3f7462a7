"""Where the links come from: for a partition, batches of its documents with all they link to.

Whatever a source yields, the graph (building.py) counts by these rules:

* Only documents of pages that are live in the WebDB have links; of several versions of a page the last
counts. * A nofollow link vouches for nothing and is left out. A page that links to another both with and
without
  nofollow does vouch for it.
* Links of a page to the same page count once, links of a page to itself not at all (unless asked for).
* A link to a page that has moved, or that names another page in its place, counts as one to where that leads,
  through at most MAX_HOPS others; so two links to two names of one page count once.
* Links to pages the WebDB does not know, or knows to be gone or beyond reach, are left out: the rank they
  would carry goes to the other links of the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.sequencefile.writables import unpack_long
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.runs.run_reader import RunReader
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, LINKS, segments_of
from crawlctl.pipeline.rank.graph.array_file import ArrayFile
from crawlctl.pipeline.urls.hosts import stable_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Hashes = NDArray[np.uint64]

BATCH_LINKS = 1 << 20
_LINK_BYTES = (
    9  # index/segment/stored_links.py: 8 of the target, 1 of flags, the flags of a page behind its targets
)


class LinkBatch(NamedTuple):
    """The links of some documents, those of each together; URLs by their stable hash."""

    sources: Hashes  # a document each
    versions: NDArray[np.int64]  # when it was fetched: of two of one URL the later counts
    counts: NDArray[np.int64]  # links of each document
    targets: Hashes  # of all links
    nofollow: NDArray[np.bool_]


class LinkSource(Protocol):
    """Yields the links of the documents of one partition."""

    def batches(self) -> Iterator[LinkBatch]:
        """Yield each document once, except for older versions of it."""


class SegmentLinks:
    """The links in the segments of the index."""

    def __init__(self, store: Store, entries: Sequence[FileEntry]) -> None:
        self._store = store
        self._segments = [segment for segment in segments_of(entries) if not segment.frontier]

    def batches(self) -> Iterator[LinkBatch]:
        """Yield the documents of one segment after the other, in the order of its links file."""
        for segment in self._segments:
            columns = ColumnReader(segment.open(self._store, COLUMNS), segment.documents)
            places = np.frombuffer(columns.raw("places"), "<u4")
            hashes = np.zeros(int(places.max()) + 1 if len(places) else 0, np.uint64)
            hashes[places] = np.frombuffer(columns.raw("hashes"), "<u8")
            fetched = np.zeros(len(hashes), np.int64)
            fetched[places] = np.frombuffer(columns.raw("fetched"), "<u4")
            known = np.zeros(len(hashes), np.bool_)
            known[places] = True
            yield from _batches(segment.open(self._store, LINKS), hashes, fetched, known)


class RunLinks:
    """The links in runs, as fetch tasks have saved them."""

    def __init__(self, store: Store, entries: Sequence[FileEntry]) -> None:
        self._store = store
        self._runs = runs_of(entries)

    def batches(self) -> Iterator[LinkBatch]:
        """Yield the documents of one run after the other."""
        for run in self._runs:
            records = [
                (stable_hash(one.url), one.fetched_at) for _, one in RunReader(self._store, run).records()
            ]
            hashes = np.array([number for number, _ in records], np.uint64)
            fetched = np.array([when for _, when in records], np.int64)
            source = self._store.open(run.links)
            yield from _batches(source, hashes, fetched, np.ones(len(hashes), np.bool_))


class CrawlLinks:
    """The links of a crawl: in segments, and in runs that have not been merged into one yet."""

    def __init__(self, store: Store, entries: Sequence[FileEntry]) -> None:
        self._sources = (SegmentLinks(store, entries), RunLinks(store, entries))

    def batches(self) -> Iterator[LinkBatch]:
        """Yield the documents of both."""
        for source in self._sources:
            yield from source.batches()


class ArrayLinks:
    """Links that were put into the store as arrays: graphs of others, and tests."""

    def __init__(self, store: Store, entries: Sequence[FileEntry]) -> None:
        self._files = [ArrayFile(store, entry) for entry in entries]

    def batches(self) -> Iterator[LinkBatch]:
        """Yield a batch a file: arrays of the names that LinkBatch has, nofollow in bytes."""
        for file in self._files:
            yield LinkBatch(
                file.read("sources").astype(np.uint64),
                file.read("versions").astype(np.int64),
                file.read("counts").astype(np.int64),
                file.read("targets").astype(np.uint64),
                file.read("nofollow").astype(np.bool_),
            )


def _batches(
    source: RangedSource, hashes: Hashes, versions: NDArray[np.int64], known: NDArray[np.bool_]
) -> Iterator[LinkBatch]:
    """Yield the links in a file of packed links, whose documents are described by place."""
    places: list[int] = []
    values: list[bytes] = []
    held = 0
    for block in SequenceFileReader(source).blocks():
        for key, value in zip(block.keys, block.values, strict=True):
            place = unpack_long(key)
            if len(value) % _LINK_BYTES or not 0 <= place < len(hashes):
                raise CorruptFile(
                    source.name, block.offset, f"document {place} has {len(value)} bytes of links"
                )
            if known[place]:
                places.append(place)
                values.append(value)
                held += len(value) // _LINK_BYTES
        if held >= BATCH_LINKS:
            yield _batch(places, values, hashes, versions)
            places, values, held = [], [], 0
    if places:
        yield _batch(places, values, hashes, versions)


def _batch(places: list[int], values: list[bytes], hashes: Hashes, versions: NDArray[np.int64]) -> LinkBatch:
    counts = np.fromiter((len(value) // _LINK_BYTES for value in values), np.int64, len(values))
    pairs = list(zip(values, counts.tolist(), strict=True))
    targets = np.frombuffer(b"".join([value[: 8 * count] for value, count in pairs]), ">u8")
    flags = np.frombuffer(b"".join([value[8 * count :] for value, count in pairs]), np.uint8)
    numbers = np.array(places)
    return LinkBatch(
        hashes[numbers], versions[numbers], counts, targets.astype(np.uint64), flags.astype(np.bool_)
    )


SOURCES: dict[str, Callable[[Store, Sequence[FileEntry]], LinkSource]] = {
    "crawl": CrawlLinks,
    "arrays": ArrayLinks,
}
