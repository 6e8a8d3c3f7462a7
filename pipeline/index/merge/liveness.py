"""Decides which documents of a partition are live.

The pages of the WebDB are joined with their documents in runs and segments, in key order. Of each live page
the newest document is kept, whichever run or segment has it; all other documents are dead. If the run or
segment of a kept document is merged, the document goes into the new segment, with the next ordinal there. If
its segment stays, it stays there. This takes about 20 bytes of memory per document of the partition.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np

from crawlctl.pipeline.index.merge.anchor_postings import AnchorWords
from crawlctl.pipeline.index.merge.new_segment import MergedWords, SegmentContent, write_segment
from crawlctl.pipeline.index.segment.columns import unpack_language
from crawlctl.pipeline.index.segment.segment_files import segment_name
from crawlctl.pipeline.index.segment.tombstones import Tombstones
from crawlctl.pipeline.urls.hosts import host_in_key, stable_hash, url_in_key
from crawlctl.pipeline.webdb.packed import statuses
from crawlctl.pipeline.webdb.records import LIVE, Status, decode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.arrays.array_types import (
        BoolArray,
        IndexArray,
        Int32Array,
        Octets,
        UInt32Array,
        UInt64Array,
    )
    from crawlctl.pipeline.config.settings import IndexSettings
    from crawlctl.pipeline.index.merge.sources import SegmentSource, Source
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.part import WebDbPart
    from crawlctl.pipeline.webdb.records import WebEntry

PAGES_AT_ONCE = 1 << 14

_MAY_BE_INDEXED = LIVE | {Status.UNFETCHED}


class PageState(NamedTuple):
    """A page that is live, or a page of the frontier that has anchors; all other pages have no document."""

    key: bytes  # the WebDB key
    live: bool = True
    anchors: tuple[str, ...] = ()  # the best first
    score: float = 0.0

    @property
    def url(self) -> bytes:
        """The URL; in the key the host comes before it."""
        return url_in_key(self.key)


def pages_of(part: WebDbPart | None) -> Iterator[PageState]:
    """Yield the pages of a WebDB part that a merge needs, in key order; other entries are not decoded."""
    if part is None:
        return
    for block in part.blocks():
        found = statuses(block.values, part.name, block.offset)
        for key, value, status in zip(block.keys, block.values, found, strict=True):
            if status in _MAY_BE_INDEXED:
                page = _state(key, decode_entry(value, part.name, block.offset))
                if page is not None:
                    yield page


def state_of(key: bytes, value: bytes, name: str, offset: int = 0) -> PageState | None:
    """Return the page of a packed entry if a merge needs it; `name` and `offset` say where the entry lies."""
    entry = decode_entry(value, name, offset)
    return _state(key, entry) if entry.status in _MAY_BE_INDEXED else None


def _state(key: bytes, entry: WebEntry) -> PageState | None:
    return PageState(key, entry.live, entry.anchors, entry.score) if entry.live or entry.anchors else None


def checksum(anchors: Iterable[str]) -> int:
    """Return a checksum that shows whether the anchors of a page have changed; 0 if a page has no anchors."""
    return crc32("\n".join(anchors).encode("utf-8", "replace"))


class KeptSegment:
    """A segment that stays as it is, and which of its documents were found to be live."""

    def __init__(self, source: SegmentSource) -> None:
        self.source = source
        self._alive = np.zeros(source.documents, np.bool_)
        self._other = np.zeros(
            source.documents, np.bool_
        )  # documents with other anchors than the indexed ones
        self._anchors = source.column("anchors")

    def as_before(self, tombstones: Tombstones | None) -> None:
        """Take all documents that were live after the last merge, which wrote these tombstones."""
        self._alive[:] = True
        if tombstones is not None:
            self._alive &= ~_bits(tombstones.bitmap, tombstones.documents)
        if tombstones is not None and tombstones.other_anchors:
            self._other |= _bits(tombstones.other_anchors, tombstones.documents)

    def forget(self, hashes: UInt64Array) -> None:
        """Count the documents of these URLs as dead again; a later `take` may mark them as alive."""
        _, ordinals = self.source.find(hashes)
        self._alive[ordinals] = self._other[ordinals] = False

    def take(self, ordinals: Int32Array, checksums: UInt32Array) -> None:
        """Mark documents as alive; `checksums` belong to the anchors that their pages have now."""
        self._alive[ordinals] = True
        self._other[ordinals] = self._anchors[ordinals] != checksums

    def tombstones(self, missing: bytes = b"") -> Tombstones:
        """Return the tombstones: the dead documents are those that were not taken."""
        dead, other = ~self._alive, self._other
        return Tombstones(
            self.source.name,
            len(dead),
            int(dead.sum()),
            int(other.sum()),
            np.packbits(dead, bitorder="little").tobytes(),
            np.packbits(other, bitorder="little").tobytes() if other.any() else b"",
            missing,
        )


class NewSegment:
    """A segment that a merge is going to write: its sources, and their live documents."""

    def __init__(self, sources: Sequence[Source], memory: int, *, frontier: bool = False) -> None:
        self.sources = sources
        self.documents = 0
        self.priors = np.zeros(sum(source.documents for source in sources), np.uint8)
        self._frontier = frontier
        self._new = [np.full(source.documents, -1, np.int32) for source in sources]
        self._checksums: list[UInt32Array] = []
        self._hosts: list[tuple[bytes, int]] = []
        self._anchors = AnchorWords(memory)

    def take(self, pages: Sequence[PageState], sources: IndexArray, ordinals: Int32Array) -> None:
        """Take the documents of pages, which come in key order: the source of each, and its ordinal there."""
        new = np.arange(self.documents, self.documents + len(pages), dtype=np.int32)
        languages = np.zeros(len(pages), np.uint32)
        for number, source in enumerate(self.sources):
            here = np.flatnonzero(sources == number)
            self._new[number][ordinals[here]] = new[here]
            languages[here] = source.column("languages")[ordinals[here]]
        for ordinal, language, page in zip(new.tolist(), languages.tolist(), pages, strict=True):
            host = host_in_key(page.key)
            if not self._hosts or self._hosts[-1][0] != host:
                self._hosts.append((host, ordinal))
            if page.anchors:
                self._anchors.add(ordinal, unpack_language(language), page.anchors)
        self._checksums.append(np.array([checksum(page.anchors) for page in pages], np.uint32))
        self.documents += len(pages)

    def write(
        self,
        store: Store,
        averages: Sequence[float],
        settings: IndexSettings,
        *,
        partition: int,
        round_number: int,
    ) -> tuple[FileEntry, ...]:
        """Write the segment; `averages` are the average field lengths of the whole index."""
        members = [*zip(self.sources, self._new, strict=True)]
        content = SegmentContent(members, self.documents, self._hosts, averages, self._frontier)
        checksums = np.concatenate([*self._checksums, np.zeros(0, np.uint32)])
        words = MergedWords(content, self._anchors, checksums, settings)
        return write_segment(store, segment_name(partition, round_number), partition, content, words)


class Liveness:
    """Decides which document of each live page survives: the newest over all runs and segments."""

    def __init__(
        self, new: Sequence[NewSegment], kept: Sequence[KeptSegment], priors: dict[str, bytes]
    ) -> None:
        self._new = new
        self._kept = kept
        self._sources: list[Source] = [source for segment in new for source in segment.sources]
        self._sources += [segment.source for segment in kept]
        self._priors = [_prior_array(priors.get(source.name)) for source in self._sources]
        self._prior_of_new = _low_prior([known for known in self._priors if known is not None])
        # If two documents of a page were fetched in the same second, the document that was indexed later is
        # kept.
        self._by_age = sorted(range(len(self._sources)), key=lambda number: self._sources[number].age)

    def decide(self, pages: Iterable[PageState]) -> None:
        """Hand the surviving documents of these pages, which come in key order, to their segments."""
        rest = iter(pages)
        while some := list(islice(rest, PAGES_AT_ONCE)):
            self._decide(some)

    def _decide(self, pages: list[PageState]) -> None:
        hashes = np.fromiter((stable_hash(page.url) for page in pages), np.uint64, len(pages))
        newest = np.full(len(pages), -1, np.int64)
        owners = np.full(len(pages), -1, np.intp)
        ordinals = np.zeros(len(pages), np.int32)
        priors = np.zeros(len(pages), np.uint8)  # 0: not known
        for number in self._by_age:
            source = self._sources[number]
            found, there = source.find(hashes)
            known = self._priors[number]
            if known is not None:
                priors[found] = np.maximum(priors[found], known[there])
            fetched = source.column("fetched")[there].astype(np.int64)
            newer = fetched >= newest[found]
            found, there = found[newer], there[newer]
            newest[found], owners[found], ordinals[found] = fetched[newer], number, there
        priors[priors == 0] = self._prior_of_new
        self._hand_over(pages, owners, ordinals, priors)

    def _hand_over(
        self, pages: list[PageState], owners: IndexArray, ordinals: Int32Array, priors: Octets
    ) -> None:
        first = 0
        for segment in self._new:
            after = first + len(segment.sources)
            here = np.flatnonzero((owners >= first) & (owners < after))
            segment.priors[segment.documents : segment.documents + len(here)] = priors[here]
            segment.take([pages[index] for index in here.tolist()], owners[here] - first, ordinals[here])
            first = after
        for number, kept in enumerate(self._kept, first):
            here = np.flatnonzero(owners == number)
            anchors = np.array([checksum(pages[index].anchors) for index in here.tolist()], np.uint32)
            kept.take(ordinals[here], anchors)


def _low_prior(known: Sequence[Octets]) -> int:
    """Return the prior of a page that has no rank yet: that of the lowest quarter of the ranked pages.

    Pages that a crawl finds late have few links to them. Without any prior they would come after all other
    pages until the next ranking.
    """
    ranked = np.concatenate([*known, np.zeros(0, np.uint8)])
    ranked = ranked[ranked > 0]
    return int(np.quantile(ranked, 0.25, method="lower")) if len(ranked) else 0


def _bits(bitmap: bytes, count: int) -> BoolArray:
    bits = np.unpackbits(np.frombuffer(bitmap, np.uint8), bitorder="little", count=count)
    return bits.astype(np.bool_)


def _prior_array(data: bytes | None) -> Octets | None:
    return None if data is None else np.frombuffer(data, np.uint8)
