"""The orders of the job that groups near duplicates, and the files that it writes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.segment.duplicate_groups import pack_groups, write_groups
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.orders import StoreOrder, TaskOrder, encode_order
from crawlctl.pipeline.state.kinds import DELETED, PRIORS, SEGMENTS
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from crawlctl.pipeline.store.base import Store

READ_KINDS = (SEGMENTS, DELETED, PRIORS)  # the kinds of files that the job reads


class GroupOrder(StoreOrder, frozen=True, kw_only=True):
    """The part of the order that is the same for all tasks of the job; the tasks read it from a file."""

    round: int
    shards: int
    threshold: float
    ranks: int = 0  # which ranks choose the representatives (mark_of_ranks in grouping_due.py)
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
