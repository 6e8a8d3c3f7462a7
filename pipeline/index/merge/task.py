"""The work of the tasks of an index merge: one partition, or one shard of the dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.index.merge.dictionary_shards import write_shard
from crawlctl.pipeline.index.merge.layer_policy import plan_layer
from crawlctl.pipeline.index.merge.liveness import pages_of
from crawlctl.pipeline.index.merge.order import PARTITION_KINDS
from crawlctl.pipeline.index.merge.page_changes import changes_in
from crawlctl.pipeline.index.merge.partition import MergeTask, merge_partition
from crawlctl.pipeline.index.segment.dictionary_layers import FIRST_LAYER, layers_of, seen_counters
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.index.statistics import Totals, shards_for
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.webdb.layers.changed_rows import changed_rows
from crawlctl.pipeline.webdb.part import part_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.index.merge.order import IndexOrder, PartitionOrder
    from crawlctl.pipeline.index.merge.page_changes import PageChanges
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
    return merge_partition(
        store, task, files, pages_of(part_in(store, line.files)), _changes(store, order, line)
    )


def _changes(store: Store, order: IndexOrder, line: PartitionOrder) -> PageChanges | None:
    """Return the pages that have changed since the last merge; None if they are not known or not needed."""
    part = part_in(store, line.files)
    if order.full or line.seen is None or part is None:
        return None
    changed = changed_rows(store, line.files, line.seen)
    urls = sum(entry.records for entry in line.files if entry.kind == WEBDB)
    return None if changed is None else changes_in(changed, part, urls)


def write_ordered_shard(
    store: Store, order: IndexOrder, shard: int, merged: Sequence[FileEntry]
) -> tuple[FileEntry, ...]:
    """Write a shard of the new layer of the dictionary.

    The layer policy chooses the segments of the new layer out of all segments, merged or not. There is always
    a new layer, even if it is empty: the round in its name says when the index was merged last.
    """
    segments = {segment.name: segment for segment in segments_of((*order.staying, *merged))}
    if not segments:
        return ()
    layers = layers_of(order.layers)
    chosen = plan_layer({name: segment.terms for name, segment in segments.items()}, layers)
    shards = min(order.shards, shards_for(sum(segments[name].terms for name in chosen)))
    if shard >= shards:
        return ()
    return write_shard(
        store,
        [segments[name] for name in chosen],
        shard=shard,
        shards=shards,
        round_number=order.round,
        layer=layers[0].number + 1 if layers else FIRST_LAYER,
        counters=seen_counters(order.seen, order.frontier),
    )
