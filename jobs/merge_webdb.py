"""WebDBMerger: merges the results of a round into the WebDB and the tables of hosts, captures and blocks.

    input    one line per mapper: MapperFiles as JSON, some files of the fetch step
    shuffle  (partition, message): a batch of discovered URLs, or the name of a file of the round
    output   manifest lines of the new WebDB part, host table, captures and blocks of each partition

A map task sends discovered URLs to the partition of their host. A reducer merges one partition: the messages,
and the parts of the snapshot, which it reads from the store. It is a job because of that one exchange: a link
may lead to any partition. The old WebDB does not cross the shuffle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.jobs.shared.ordered import OrderedJob
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.orders import decode_order
from crawlctl.pipeline.state.snapshots import load_snapshot
from crawlctl.pipeline.webdb.merge.order import MapperFiles, MergeOrder
from crawlctl.pipeline.webdb.merge.shuffle import spread
from crawlctl.pipeline.webdb.merge.task import merge_partition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COUNTERS = "webdb"


class WebDBMerger(OrderedJob[MergeOrder]):
    """Sends discovered URLs to their partitions, and merges one partition per reducer call."""

    ORDER = MergeOrder

    def send_to_partitions(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Send the contents of some files to the partitions of their URLs: (partition, message)."""
        files = decode_order(line, MapperFiles).files
        yield from spread(self.store, files, self.order.partitions)

    def open_snapshot(self) -> None:
        """Open the order, its store and the snapshot."""
        self.open_order()
        self.snapshot = self.order.draft or load_snapshot(self.store, self.order.snapshot)

    def merge_partition(self, partition: int, messages: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Merge one partition: (none, manifest line)."""
        merged = merge_partition(
            self.store,
            self.snapshot,
            partition,
            messages,
            now=self.order.now,
            settings=self.order.recrawl,
            round_number=self.order.round,
            nobody_reached=self.order.nobody_reached,
        )
        self.count_all(COUNTERS, vars(merged.counts))
        yield from self.emit_files(merged.files)
        self.report_done(partition)

    def steps(self) -> list[MRStep]:
        """Return the one step."""
        return [
            MRStep(
                mapper_init=self.open_order,
                mapper=self.send_to_partitions,
                reducer_init=self.open_snapshot,
                reducer=self.merge_partition,
            )
        ]


if __name__ == "__main__":
    WebDBMerger.run()
