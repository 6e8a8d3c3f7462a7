"""Repartition: copies a crawl into another number of partitions.

    input    one line per map task: the number of a new partition
    shuffle  (shard of the dictionary, manifest line): segments to every shard, other files to shard 0
    output   manifest lines of all files of the copy

A map task reads what its hosts have in the old partitions, straight from the source, and writes one new
partition. A reducer writes one shard of the dictionary. It is a job because partitions are written side by
side; only names of files cross the shuffle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.jobs.shared.ordered import OrderedJob
from crawlctl.pipeline.copies.repartition.order import CopyOrder
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.state.kinds import SEGMENTS
from crawlctl.pipeline.state.manifest import decode_lines, encode_entry
from crawlctl.pipeline.state.snapshots import load_snapshot
from crawlctl.pipeline.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Repartition(OrderedJob[CopyOrder]):
    """Writes one new partition per map task, and one shard of the dictionary per reducer."""

    ORDER = CopyOrder

    def open_stores(self) -> None:
        """Open the order, both stores, and the snapshot that is copied."""
        from crawlctl.pipeline.copies.repartition.task import PartitionCopier

        self.open_order()
        snapshot = load_snapshot(self.store, self.order.snapshot)
        self.mover = PartitionCopier(self.store, open_store(self.order.destination), snapshot, self.order)

    def write_partition(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Write one new partition and send its segments' names to every shard: (shard, manifest line)."""
        number = int(line)
        files = self.mover.partition(number)
        self.report_done(number, sum(entry.bytes for entry in files))
        for shard in range(self.order.shards):
            for entry in files:
                if shard == 0 or entry.kind == SEGMENTS:
                    yield shard, encode_entry(entry)

    def write_dictionary(self, shard: int, lines: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Write one shard of the dictionary; the first shard also passes on all manifest lines."""
        files = tuple(decode_lines(lines, "the manifests of a copy"))
        written = self.mover.dictionary(shard, [entry for entry in files if entry.kind == SEGMENTS])
        yield from self.emit_files((*(files if shard == 0 else ()), *written))

    def steps(self) -> list[MRStep]:
        """Return the one step."""
        return [
            MRStep(
                mapper_init=self.open_stores,
                mapper=self.write_partition,
                reducer_init=self.open_stores,
                reducer=self.write_dictionary,
            )
        ]


if __name__ == "__main__":
    Repartition.run()
