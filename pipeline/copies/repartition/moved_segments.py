"""The segments of a partition of a copy: slices of older ones, their postings and impacts as they are.

A segment of an older partition gives the documents of the hosts that land here, the dead among them too, for
they count in what a query weighs its words by. The largest of each older partition make one new segment, the
second largest the next: so there are as many of them as before, and each is as much larger than the next as a
merge would leave it; and no page is in one twice, since no two partitions have the same host.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.copies.repartition.segment_slices import SegmentContent, write_files
from crawlctl.pipeline.index.merge.merge_policy import Limits
from crawlctl.pipeline.index.merge.sources import SegmentSource
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, MAX_DOCUMENTS, new_segment, segments_of
from crawlctl.pipeline.state.kinds import SEGMENTS
from crawlctl.pipeline.state.layout import round_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.copies.repartition.share import Share
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


class Slice(NamedTuple):
    """What lands here of a segment: hosts with their first ordinals there and those behind their last."""

    segment: Segment
    hosts: tuple[tuple[bytes, int, int], ...]

    @property
    def documents(self) -> int:
        """The number of documents."""
        return sum(after - first for _, first, after in self.hosts)

    @property
    def words(self) -> int:
        """About how many words they have."""
        return sum(self.segment.words) * self.documents // max(self.segment.documents, 1)


class Moved(NamedTuple):
    """A segment of the copy; for each it is made of, the new ordinals by the old ones, or −1."""

    name: str
    documents: int
    members: tuple[tuple[str, NDArray[np.int32]], ...]
    files: tuple[FileEntry, ...]


def move_segments(
    source: Store, destination: Store, share: Share, memory: int, averages: Sequence[float]
) -> Iterator[Moved]:
    """Write the segments of a partition; `averages` are the lengths of fields in the index of today."""
    segments = segments_of(share.files_of(SEGMENTS))
    slices = [_slice(source, segment, share) for segment in segments]
    for group in plan_segments(slices, Limits.of_memory(memory, MAX_DOCUMENTS)):
        yield _write(source, destination, share.number, group, averages)


def plan_segments(slices: Iterable[Slice], limits: Limits) -> list[tuple[Slice, ...]]:
    """Return what makes one new segment each."""
    layers: defaultdict[tuple[bool, int], list[Slice]] = defaultdict(list)
    met: defaultdict[tuple[bool, int], int] = defaultdict(int)
    for one in sorted(slices, key=lambda one: (-one.segment.documents, one.segment.name)):
        kin = one.segment.frontier, one.segment.partition
        if one.hosts:
            layers[one.segment.frontier, met[kin]].append(one)
        met[kin] += 1
    return [group for layer in sorted(layers) for group in _packed(layers[layer], limits)]


def _packed(slices: Iterable[Slice], limits: Limits) -> Iterator[tuple[Slice, ...]]:
    group: list[Slice] = []
    for one in slices:
        if group and (
            len(group) == limits.sources
            or sum(other.documents for other in (*group, one)) > limits.documents
            or sum(other.words for other in (*group, one)) > limits.words
        ):
            yield tuple(group)
            group = []
        group.append(one)
    if group:
        yield tuple(group)


def _slice(store: Store, segment: Segment, share: Share) -> Slice:
    hosts = ColumnReader(segment.open(store, COLUMNS), segment.documents).hosts()
    chosen = [place for place, host in enumerate(hosts.names) if share.takes(host)]
    return Slice(segment, tuple((hosts.names[p], *hosts.bounds(p, segment.documents)) for p in chosen))


def _write(
    source: Store, destination: Store, partition: int, slices: Sequence[Slice], averages: Sequence[float]
) -> Moved:
    hosts, ordinals, documents = _numbered(slices)
    sources = [SegmentSource(source, one.segment) for one in slices]
    content = SegmentContent(
        list(zip(sources, ordinals, strict=True)),
        documents,
        hosts,
        _averages(slices, averages),
        slices[0].segment.frontier,
    )
    name = new_segment(partition, max(round_of(one.segment.name) for one in slices))
    files = write_files(destination, name, partition, content)
    members = tuple((one.name, new) for one, new in content.members)
    return Moved(name, documents, members, files)


def _numbered(
    slices: Sequence[Slice],
) -> tuple[list[tuple[bytes, int]], list[NDArray[np.int32]], int]:
    """Return the hosts of all slices with their new first ordinals, the new ordinals, and how many."""
    ordinals = [np.full(one.segment.documents, -1, np.int32) for one in slices]
    hosts: list[tuple[bytes, int]] = []
    documents = 0
    for host, number, first, after in sorted(
        (host, number, first, after) for number, one in enumerate(slices) for host, first, after in one.hosts
    ):
        hosts.append((host, documents))
        ordinals[number][first:after] = np.arange(documents, documents + after - first)
        documents += after - first
    return hosts, ordinals, documents


def _averages(slices: Iterable[Slice], now: Sequence[float]) -> list[float]:
    """Return the averages of the impacts: of several the one that has drifted furthest.

    So a segment is written again when any part of it would have been.
    """
    found = zip(*(one.segment.averages for one in slices), strict=True)
    return [
        max(lengths, key=lambda length: abs(length - today))
        for today, lengths in zip(now, found, strict=True)
    ]
