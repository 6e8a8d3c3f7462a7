"""The work of a repartition task: makes one partition of a copy that has another number of partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.copies.copy_files import check_file
from crawlctl.pipeline.copies.copy_records import finished_partition, put_partition
from crawlctl.pipeline.copies.repartition.moved_graph import move_graph
from crawlctl.pipeline.copies.repartition.moved_ranks import move_ranks
from crawlctl.pipeline.copies.repartition.moved_runs import move_runs
from crawlctl.pipeline.copies.repartition.moved_segments import move_segments
from crawlctl.pipeline.copies.repartition.share import Share
from crawlctl.pipeline.copies.repartition.side_files import move_groups, move_priors, move_tombstones
from crawlctl.pipeline.copies.repartition.unchanged_files import is_moved_whole
from crawlctl.pipeline.copies.repartition.webdb_tables import move_captures, move_hosts, move_webdb
from crawlctl.pipeline.index.merge.dictionary_shards import write_shard
from crawlctl.pipeline.index.merge.order import last_merge
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.index.statistics import totals_of
from crawlctl.pipeline.store.local.sync_group import synced_together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.copies.repartition.order import CopyOrder
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


class PartitionCopier:
    """Makes partitions of a copy, and shards of its dictionary, from a snapshot of the source."""

    def __init__(self, source: Store, destination: Store, snapshot: Snapshot, order: CopyOrder) -> None:
        self._source = source
        self._destination = destination
        self._snapshot = snapshot
        self._order = order

    def partition(self, number: int) -> tuple[FileEntry, ...]:
        """Return the files of a partition: those of an earlier attempt if it has finished, else new files."""
        known = finished_partition(self._destination, self._order.snapshot, number)
        if known is not None:
            return known
        self._check_some(number)
        share = Share(self._snapshot, number, self._order.partitions)
        with synced_together():  # before the list of the partition names them
            files = tuple(self._files(share))
        return put_partition(self._destination, self._order.snapshot, number, files)

    def dictionary(self, shard: int, moved: Sequence[FileEntry]) -> tuple[FileEntry, ...]:
        """Write a shard of the dictionary of all partitions."""
        if not moved:
            return ()
        return write_shard(
            self._destination,
            segments_of(moved),
            shard=shard,
            shards=self._order.shards,
            round_number=last_merge(self._snapshot.files),
        )

    def _files(self, share: Share) -> Iterator[FileEntry]:
        stores = self._source, self._destination, share
        yield from move_webdb(*stores)
        yield from move_hosts(*stores)
        yield from move_captures(*stores)
        averages = totals_of(self._snapshot.files).averages
        segments = list(move_segments(*stores, self._order.memory, averages))
        for segment in segments:
            yield from segment.files
        yield from move_tombstones(*stores, segments)
        yield from move_priors(*stores, segments)
        yield from move_groups(*stores, segments)
        yield from move_runs(*stores)
        yield from move_ranks(*stores)
        yield from move_graph(*stores)

    def _check_some(self, number: int) -> None:
        """Check some files of the source against their manifests; all tasks together check all files."""
        files = [entry for entry in self._snapshot.files if not is_moved_whole(entry)]
        for entry in files[number :: self._order.partitions]:
            check_file(self._source, entry)
