"""Which documents live: versions of pages in runs and segments meet the pages of the WebDB, in key order.

Of each live page the newest version is kept, wherever it lies; all other documents are dead. A version in a
source that is merged goes into the new segment, with the next ordinal there; one in a segment that stays is
left where it is. All this takes some 20 bytes a document of the partition.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.index.merge.anchor_postings import AnchorWords
from crawlctl.pipeline.index.merge.live_pages import PageState, checksum
from crawlctl.pipeline.index.merge.new_segment import Content
from crawlctl.pipeline.index.segment.columns import unpack_language
from crawlctl.pipeline.index.segment.tombstones import Tombstones
from crawlctl.pipeline.urls.hosts import host_in_key, stable_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.index.merge.sources import SegmentSource, Source

PAGES_AT_ONCE = 1 << 14


class Kept:
    """A segment that stays, and which of its documents were found alive."""

    def __init__(self, source: SegmentSource) -> None:
        self.source = source
        self._alive = np.zeros(source.documents, np.bool_)
        self._anchors = source.column("anchors")
        self._reanchored = 0

    def take(self, ordinals: NDArray[np.int32], checksums: NDArray[np.uint32]) -> None:
        """Take note of documents that are alive, and of the anchors that their pages have by now."""
        self._alive[ordinals] = True
        self._reanchored += int((self._anchors[ordinals] != checksums).sum())

    def tombstones(self) -> Tombstones:
        """Return the dead."""
        dead = ~self._alive
        bitmap = np.packbits(dead, bitorder="little").tobytes()
        return Tombstones(self.source.name, len(dead), int(dead.sum()), self._reanchored, bitmap)


class Group:
    """A segment in the making."""

    def __init__(self, sources: Sequence[Source], memory: int, *, frontier: bool = False) -> None:
        self.sources = sources
        self.documents = 0
        self.priors = np.zeros(sum(source.documents for source in sources), np.uint8)
        self._frontier = frontier
        self._new = [np.full(source.documents, -1, np.int32) for source in sources]
        self._checksums: list[NDArray[np.uint32]] = []
        self._hosts: list[tuple[bytes, int]] = []
        self._anchors = AnchorWords(memory)

    def take(
        self, pages: Sequence[PageState], members: NDArray[np.intp], ordinals: NDArray[np.int32]
    ) -> None:
        """Take the documents of pages, in key order: the numbers of their sources, and ordinals there."""
        new = np.arange(self.documents, self.documents + len(pages), dtype=np.int32)
        languages = np.zeros(len(pages), np.uint32)
        for number, source in enumerate(self.sources):
            here = np.flatnonzero(members == number)
            self._new[number][ordinals[here]] = new[here]
            languages[here] = source.columns["languages"][ordinals[here]]
        for ordinal, language, page in zip(new.tolist(), languages.tolist(), pages, strict=True):
            host = host_in_key(page.key)
            if not self._hosts or self._hosts[-1][0] != host:
                self._hosts.append((host, ordinal))
            if page.anchors:
                self._anchors.add(ordinal, unpack_language(language), page.anchors)
        self._checksums.append(np.array([checksum(page.anchors) for page in pages], np.uint32))
        self.documents += len(pages)

    def content(self) -> Content:
        """Return what has come together."""
        return Content(
            [*zip(self.sources, self._new, strict=True)],
            self.documents,
            self._hosts,
            self._anchors,
            np.concatenate([*self._checksums, np.zeros(0, np.uint32)]),
            self._frontier,
        )


class Verdicts:
    """The passage of the pages of a partition, in key order, by all its documents."""

    def __init__(self, groups: Sequence[Group], kept: Sequence[Kept], priors: dict[str, bytes]) -> None:
        self._groups = groups
        self._kept = kept
        self._sources: list[Source] = [source for group in groups for source in group.sources]
        self._sources += [segment.source for segment in kept]
        self._priors = [_prior_array(priors.get(source.name)) for source in self._sources]
        # Of two versions fetched in the same second the one indexed later is kept.
        self._by_age = sorted(range(len(self._sources)), key=lambda number: self._sources[number].age)

    def pass_by(self, pages: Iterable[PageState]) -> None:
        """Let pages decide about their documents."""
        rest = iter(pages)
        while some := list(islice(rest, PAGES_AT_ONCE)):
            self._decide(some)

    def _decide(self, pages: list[PageState]) -> None:
        hashes = np.fromiter((stable_hash(page.url) for page in pages), np.uint64, len(pages))
        newest = np.full(len(pages), -1, np.int64)
        owners = np.full(len(pages), -1, np.intp)
        ordinals = np.zeros(len(pages), np.int32)
        priors = np.zeros(len(pages), np.uint8)
        for number in self._by_age:
            source = self._sources[number]
            found, there = source.find(hashes)
            known = self._priors[number]
            if known is not None:
                priors[found] = np.maximum(priors[found], known[there])
            fetched = source.columns["fetched"][there].astype(np.int64)
            newer = fetched >= newest[found]
            found, there = found[newer], there[newer]
            newest[found], owners[found], ordinals[found] = fetched[newer], number, there
        first = 0
        for group in self._groups:
            after = first + len(group.sources)
            here = np.flatnonzero((owners >= first) & (owners < after))
            group.priors[group.documents : group.documents + len(here)] = priors[here]
            group.take([pages[place] for place in here.tolist()], owners[here] - first, ordinals[here])
            first = after
        for number, kept in enumerate(self._kept, first):
            here = np.flatnonzero(owners == number)
            anchors = np.array([checksum(pages[place].anchors) for place in here.tolist()], np.uint32)
            kept.take(ordinals[here], anchors)


def _prior_array(data: bytes | None) -> NDArray[np.uint8] | None:
    return None if data is None else np.frombuffer(data, np.uint8)
