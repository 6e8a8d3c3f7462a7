"""The orders of the job that groups near duplicates, and the files that it writes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING
from zlib import crc32

from crawlctl.pipeline.index.segment.duplicate_groups import BY_RANKS, pack_groups, read_groups, write_groups
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.orders import StoreOrder, TaskOrder, encode_order
from crawlctl.pipeline.state.kinds import DELETED, GROUPS, PRIORS, RANKS, SEGMENTS
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from crawlctl.pipeline.store.base import Store

SMALL_INDEX = 10_000  # up to this number of documents grouping takes less than half a second
READ_KINDS = (SEGMENTS, DELETED, PRIORS)  # the kinds of files that the job reads


class GroupOrder(StoreOrder, frozen=True, kw_only=True):
    """The part of the order that is the same for all tasks of the job; the tasks read it from a file."""

    round: int
    shards: int
    threshold: float
    ranks: int = 0  # which ranks choose the representatives (mark_of_ranks)
    segments: dict[int, list[str]]  # the names of the segments per partition, in the order of their numbers


class PartitionFiles(TaskOrder, frozen=True, array_like=True):
    """A partition and the files of its index: one input line of a mapper."""

    partition: int
    entries: tuple[FileEntry, ...]


def partition_lines(entries: Iterable[FileEntry]) -> tuple[dict[int, list[str]], list[bytes]]:
    """Return the names of the segments per partition, and an input line per partition that has segments."""
    by_partition: defaultdict[int, list[FileEntry]] = defaultdict(list)
    for entry in entries:
        if entry.kind in READ_KINDS:
            by_partition[entry.partition].append(entry)
    names = {number: [s.name for s in segments_of(files)] for number, files in by_partition.items()}
    lines = [
        encode_order(PartitionFiles(number, tuple(files)))
        for number, files in sorted(by_partition.items())
        if names[number]
    ]
    return names, lines


def write_all_groups(store: Store, order: GroupOrder, found: NDArray[np.void]) -> list[FileEntry]:
    """Write the groups of every partition from the rows (GROUPED) of all documents that are in a group."""
    written: list[FileEntry] = []
    for partition, names in sorted(order.segments.items()):
        mine = found[found["partition"] == partition]
        packed = []
        for number, name in enumerate(names):
            rows = mine[mine["segment"] == number]
            members = dict(zip(rows["ordinal"].tolist(), rows["group"].tolist(), strict=True))
            packed.append(pack_groups(name, members))
        written += write_groups(
            store, packed, partition=partition, round_number=order.round, ranks=order.ranks
        )
    return written


def is_grouping_due(store: Store, entries: Sequence[FileEntry], share: float) -> bool:
    """Return whether the end of a run groups: enough documents were not compared yet, or ranks have changed.

    `share` is the part of all documents that are enough. Grouping takes the longer the more documents there
    are, even if one has changed. Documents of a segment that a merge has written count as not compared, so a
    merge of large segments is followed by a grouping.
    """
    if are_grouped(store, entries):
        return False
    segments = [segment for segment in segments_of(entries) if not segment.frontier]
    documents = sum(segment.documents for segment in segments)
    if documents <= SMALL_INDEX or not _has_these_ranks(entries):
        return True
    compared = read_groups(store, entries)
    return sum(one.documents for one in segments if one.name not in compared) >= share * documents


def _has_these_ranks(entries: Sequence[FileEntry]) -> bool:
    """Return whether there are groups and these ranks chose their representatives."""
    ranks = {
        entry.counters.get(BY_RANKS, mark_of_ranks(entries)) for entry in entries if entry.kind == GROUPS
    }
    return ranks == {mark_of_ranks(entries)}


def are_grouped(store: Store, entries: Sequence[FileEntry]) -> bool:
    """Return whether the last grouping compared exactly the segments that the index has now, by these ranks.

    The ranks may be newer than the groups, if a run was killed after it had ranked. Groups of older releases
    and of copies do not say by which ranks they were made.
    """
    has_groups = any(entry.kind == GROUPS for entry in entries)
    if has_groups and not _has_these_ranks(entries):
        return False
    return set(read_groups(store, entries)) == {segment.name for segment in segments_of(entries)}


def mark_of_ranks(entries: Iterable[FileEntry]) -> int:
    """Return a number that identifies the ranks among some files: it changes with each ranking."""
    # The priors follow from the ranks, but are written again with each segment.
    return crc32("\n".join(sorted(entry.name for entry in entries if entry.kind == RANKS)).encode())
