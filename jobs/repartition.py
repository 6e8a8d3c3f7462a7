"""Repartition: copies a crawl into another number of partitions.

Reads one line a task, the number of a new partition, and emits the manifest of the copy. A map task reads
what its hosts have in the older partitions, straight from the source, and writes it; reducers write the
dictionary over all of it. It is a job because partitions are made side by side; nothing but names of files
crosses the shuffle.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.jobs.ordered import OrderedJob
from crawlctl.pipeline.copies.repartition.order import copy_order
from crawlctl.pipeline.index.segment.segment_files import SEGMENTS
from crawlctl.pipeline.progress.task_file import Progress, ProgressFile
from crawlctl.pipeline.state.manifest import decode_lines, encode_entry
from crawlctl.pipeline.state.snapshots import load_snapshot
from crawlctl.pipeline.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Repartition(OrderedJob):
    """A map task a new partition; a reducer a shard of the dictionary."""

    def mapper_init(self) -> None:
        """Open both stores, and the snapshot that is copied."""
        from crawlctl.pipeline.copies.repartition.task import Mover

        self.order = copy_order(Path(self.options.order).read_bytes())
        source = open_store(self.order.source)
        snapshot = load_snapshot(source, self.order.snapshot)
        self.mover = Mover(source, open_store(self.order.destination), snapshot, self.order)

    def mapper(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Make one partition, and tell every shard of its segments: (shard, line of a manifest)."""
        if not line.strip():
            return
        number = int(line)
        files = self.mover.partition(number)
        said = ProgressFile(self.order.progress, number)
        said.write(Progress(done=1, total=1, bytes=sum(entry.bytes for entry in files)))
        said.close()
        for shard in range(self.order.shards):
            for entry in files:
                if shard == 0 or entry.kind == SEGMENTS:
                    yield shard, encode_entry(entry)

    def reducer_init(self) -> None:
        """Open the stores."""
        self.mapper_init()

    def reducer(self, shard: int, lines: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Write a shard of the dictionary; the first one passes the manifests on."""
        files = tuple(decode_lines(lines, "the manifests of a copy"))
        written = self.mover.dictionary(shard, [entry for entry in files if entry.kind == SEGMENTS])
        for entry in (*(files if shard == 0 else ()), *written):
            yield None, encode_entry(entry)


if __name__ == "__main__":
    Repartition.run()
