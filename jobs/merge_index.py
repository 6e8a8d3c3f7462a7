"""IndexMerger: makes the runs of rounds part of what queries are answered from.

Reads a line a task that names the files of a partition, merges its runs and some of its segments, and emits
the manifest of what the partition has then. Reducers write the dictionary over the segments of all
partitions, each a range of terms. It is a job because partitions are merged side by side; nothing but names
of files crosses the shuffle.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.jobs.ordered import OrderedJob
from crawlctl.pipeline.index.merge.order import index_order, partition_order
from crawlctl.pipeline.progress.task_file import Progress, ProgressFile
from crawlctl.pipeline.state.manifest import decode_lines, encode_entry
from crawlctl.pipeline.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COUNTERS = "index"


class IndexMerger(OrderedJob):
    """A map task a partition; a reducer a shard of the dictionary."""

    def mapper_init(self) -> None:
        """Open the store."""
        self.order = index_order(Path(self.options.order).read_bytes())
        self.store = open_store(self.order.store)

    def mapper(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Merge one partition, and tell every shard what it has now: (shard, line of a manifest)."""
        from crawlctl.pipeline.index.merge.task import merge_order

        if not line.strip():
            return
        order = partition_order(line)
        merged = merge_order(self.store, self.order, order)
        self.increment_counter(COUNTERS, "written", merged.written)
        self.increment_counter(COUNTERS, "left out", merged.left_out)
        for shard in range(self.order.shards):
            yield shard, b""  # a shard of other partitions' terms has to be written as well
            yield from ((shard, encode_entry(entry)) for entry in merged.files)
        self.tell_done(order.partition)

    def reducer_init(self) -> None:
        """Open the store."""
        self.mapper_init()

    def reducer(self, shard: int, lines: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Write a shard of the dictionary; the first one passes the manifests on."""
        from crawlctl.pipeline.index.merge.task import write_terms

        merged = tuple(decode_lines(filter(None, lines), "the manifests of an index merge"))
        written = write_terms(self.store, self.order, shard, merged)
        for entry in (*(merged if shard == 0 else ()), *written):
            yield None, encode_entry(entry)

    def tell_done(self, partition: int) -> None:
        """Let the driver know of a partition that is merged."""
        said = ProgressFile(self.order.progress, partition)
        said.write(Progress(done=1, total=1))
        said.close()


if __name__ == "__main__":
    IndexMerger.run()
