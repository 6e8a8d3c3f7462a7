"""IndexMerger: merges the runs of the last rounds into the segments that queries read.

    input    one line per partition: PartitionOrder as JSON, with all files of the partition
    shuffle  (shard of the dictionary, manifest line of a merged partition), to every shard
    output   manifest lines of the merged partitions and of the dictionary

A map task merges the runs and some segments of one partition. A reducer writes one shard, a range of terms,
of a new layer of the dictionary, over the new segments of all partitions. It is a job because partitions are
merged side by side; only names of files cross the shuffle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.jobs.shared.ordered import OrderedJob
from crawlctl.pipeline.index.merge.order import IndexOrder, PartitionOrder
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.orders import decode_order
from crawlctl.pipeline.state.manifest import decode_lines, encode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COUNTERS = "index"


class IndexMerger(OrderedJob[IndexOrder]):
    """Merges one partition per map task, and writes one shard of the dictionary per reducer."""

    ORDER = IndexOrder

    def merge_partition(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Merge one partition and send the names of its files to every shard: (shard, manifest line)."""
        from crawlctl.pipeline.index.merge.task import merge_ordered_partition

        order = decode_order(line, PartitionOrder)
        merged = merge_ordered_partition(self.store, self.order, order)
        self.increment_counter(COUNTERS, "written", merged.written)
        self.increment_counter(COUNTERS, "left out", merged.left_out)
        for shard in range(self.order.shards):
            yield shard, b""  # the shard is written even if this partition has no files for it
            yield from ((shard, encode_entry(entry)) for entry in merged.files)
        self.report_done(order.partition)

    def write_dictionary(self, shard: int, lines: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Write one shard of a new layer; the first shard also passes on all manifest lines."""
        from crawlctl.pipeline.index.merge.task import write_ordered_shard

        merged = tuple(decode_lines(filter(None, lines), "the manifests of an index merge"))
        written = write_ordered_shard(self.store, self.order, shard, merged)
        yield from self.emit_files((*(merged if shard == 0 else ()), *written))

    def steps(self) -> list[MRStep]:
        """Return the one step."""
        return [
            MRStep(
                mapper_init=self.open_order,
                mapper=self.merge_partition,
                reducer_init=self.open_order,
                reducer=self.write_dictionary,
            )
        ]


if __name__ == "__main__":
    IndexMerger.run()
