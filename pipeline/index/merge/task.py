"""The work of the tasks of an index merge: one partition, or one shard of the dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.index.merge.dictionary_shards import write_shard
from crawlctl.pipeline.index.merge.liveness import pages_of
from crawlctl.pipeline.index.merge.order import PARTITION_KINDS
from crawlctl.pipeline.index.merge.partition import MergeTask, merge_partition
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.index.statistics import Totals
from crawlctl.pipeline.webdb.part import part_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.index.merge.order import IndexOrder, PartitionOrder
    from crawlctl.pipeline.index.merge.partition import MergedPartition
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


def merge_ordered_partition(store: Store, order: IndexOrder, line: PartitionOrder) -> MergedPartition:
    """Merge the partition on a line of the input."""
    task = MergeTask(
        line.partition,
        order.round,
        order.index,
        Totals(order.documents, order.words, order.languages),
        order.frontier,
        order.full,
    )
    files = [entry for entry in line.files if entry.kind in PARTITION_KINDS]
    return merge_partition(store, task, files, pages_of(part_in(store, line.files)))


def write_ordered_shard(
    store: Store, order: IndexOrder, shard: int, merged: Sequence[FileEntry]
) -> tuple[FileEntry, ...]:
    """Write a shard of the dictionary of all segments, both merged segments and segments that stay."""
    entries = (*order.staying, *merged)
    if not segments_of(entries):
        return ()
    return write_shard(store, entries, shard=shard, shards=order.shards, round_number=order.round)
