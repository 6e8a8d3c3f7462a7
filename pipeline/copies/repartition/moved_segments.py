"""Makes the segments of a partition of a copy: from parts of the source segments, with the same impacts.

A merge computes new impacts from the current field lengths. A copy must not: its answers must equal the
answers of the source, to the last digit.

From each segment of the source come the documents of those hosts that belong to the new partition. Dead
documents come too, since they count in the idf of terms. The largest segments of all source partitions
together make the first new segment, the second largest segments the second, and so on. So a partition has as
many segments as before, and their sizes differ as after a merge. No page is in a segment twice, since no host
is in two partitions.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.index.merge.merge_policy import Item, Limits, plan_full_merge
from crawlctl.pipeline.index.merge.new_segment import (
    SegmentContent,
    move_columns,
    slice_positions,
    write_segment,
)
from crawlctl.pipeline.index.merge.posting_merge import PostingSource, merge_postings
from crawlctl.pipeline.index.merge.sources import SegmentSource
from crawlctl.pipeline.index.segment.columns import COLUMNS as WIDTHS
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, MAX_DOCUMENTS, segment_name, segments_of
from crawlctl.pipeline.state.kinds import SEGMENTS
from crawlctl.pipeline.state.layout import round_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.arrays.array_types import Int32Array
    from crawlctl.pipeline.copies.repartition.share import Share
    from crawlctl.pipeline.index.merge.posting_merge import Slices
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.segment_writer import Columns
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


class SegmentShare(NamedTuple):
    """The hosts of a segment that belong to the partition; for each its range of ordinals [first, after)."""

    segment: Segment
    hosts: tuple[tuple[bytes, int, int], ...]

    @property
    def documents(self) -> int:
        """The number of documents of these hosts."""
        return sum(after - first for _, first, after in self.hosts)

    @property
    def words(self) -> int:
        """An estimate of the number of their words."""
        return sum(self.segment.words) * self.documents // max(self.segment.documents, 1)


class MovedSegment(NamedTuple):
    """A segment of the copy; `members` are its source segments, with the new ordinal (or -1) per old one."""

    name: str
    documents: int
    members: tuple[tuple[str, Int32Array], ...]
    files: tuple[FileEntry, ...]
    frontier: bool = False


def move_segments(
    source: Store, destination: Store, share: Share, memory: int, averages: Sequence[float]
) -> Iterator[MovedSegment]:
    """Write the segments of a partition; `averages` are the current average field lengths of the index."""
    segments = segments_of(share.files_of(SEGMENTS))
    shares = [_share_of(source, segment, share) for segment in segments]
    for group in plan_segments(shares, Limits.of_memory(memory, MAX_DOCUMENTS)):
        yield _write(source, destination, share.number, group, averages=averages, memory=memory)


def plan_segments(shares: Iterable[SegmentShare], limits: Limits) -> list[tuple[SegmentShare, ...]]:
    """Return the shares that make up each new segment."""
    layers: defaultdict[tuple[bool, int], list[SegmentShare]] = defaultdict(list)
    met: defaultdict[tuple[bool, int], int] = defaultdict(int)
    for one in sorted(shares, key=lambda one: (-one.segment.documents, one.segment.name)):
        kin = one.segment.frontier, one.segment.partition
        if one.hosts:
            layers[one.segment.frontier, met[kin]].append(one)
        met[kin] += 1
    return [group for layer in sorted(layers) for group in _packed(layers[layer], limits)]


def _packed(shares: Iterable[SegmentShare], limits: Limits) -> Iterator[tuple[SegmentShare, ...]]:
    """Yield the shares of each new segment; a merge of everything packs segments in the same way."""
    by_name = {one.segment.name: one for one in shares}
    items = [Item(name, one.documents, one.words) for name, one in by_name.items()]
    for group in plan_full_merge((), items, limits):
        yield tuple(by_name[item.name] for item in group)


def _share_of(store: Store, segment: Segment, share: Share) -> SegmentShare:
    hosts = ColumnReader(segment.open(store, COLUMNS), segment.documents).hosts()
    chosen = [index for index, host in enumerate(hosts.names) if share.takes(host)]
    return SegmentShare(segment, tuple((hosts.names[i], *hosts.bounds(i, segment.documents)) for i in chosen))


def _write(
    source: Store,
    destination: Store,
    partition: int,
    shares: Sequence[SegmentShare],
    *,
    averages: Sequence[float],
    memory: int,
) -> MovedSegment:
    hosts, ordinals, documents = _numbered(shares)
    sources = [SegmentSource(source, one.segment) for one in shares]
    members = list(zip(sources, ordinals, strict=True))
    frontier = shares[0].segment.frontier
    content = SegmentContent(members, documents, hosts, _averages(shares, averages), frontier)
    name = segment_name(partition, max(round_of(one.segment.name) for one in shares))
    files = write_segment(destination, name, partition, content, _KeptWords(members, documents, memory))
    return MovedSegment(name, documents, tuple((one.name, new) for one, new in members), files, frontier)


class _KeptWords:
    """The words of a segment of the copy: posting lists, impacts, anchors and columns as they are."""

    def __init__(
        self, members: Sequence[tuple[SegmentSource, Int32Array]], documents: int, memory: int
    ) -> None:
        self._members = members
        self._documents = documents
        self._memory = memory

    def columns(self) -> Columns:
        """Return all columns by new ordinal, except for `rows`."""
        return move_columns(self._members, self._documents, [name for name in WIDTHS if name != "rows"])

    def slices(self, columns: Columns) -> Slices:  # a merge computes impacts from columns
        """Return the terms in byte order with their lists and ratings."""
        sources = [PostingSource(source.rated_slices(), new) for source, new in self._members]
        return merge_postings(sources, slice_positions(self._memory))


def _numbered(
    shares: Sequence[SegmentShare],
) -> tuple[list[tuple[bytes, int]], list[Int32Array], int]:
    """Return the hosts with their new first ordinals, the new ordinals per share, and how many documents."""
    ordinals = [np.full(one.segment.documents, -1, np.int32) for one in shares]
    hosts: list[tuple[bytes, int]] = []
    documents = 0
    for host, number, first, after in sorted(
        (host, number, first, after) for number, one in enumerate(shares) for host, first, after in one.hosts
    ):
        hosts.append((host, documents))
        ordinals[number][first:after] = np.arange(documents, documents + after - first)
        documents += after - first
    return hosts, ordinals, documents


def _averages(shares: Iterable[SegmentShare], now: Sequence[float]) -> list[float]:
    """Return the average field lengths with which the impacts were computed.

    If they differ between the shares, the value that is furthest from the current one counts. So a merge
    rewrites the new segment as soon as it would have rewritten one of the source segments.
    """
    found = zip(*(one.segment.averages for one in shares), strict=True)
    return [
        max(lengths, key=lambda length: abs(length - today))
        for today, lengths in zip(now, found, strict=True)
    ]
