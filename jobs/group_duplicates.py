"""DuplicateGrouper: finds the documents of the whole crawl that have nearly the same text.

    input      one line per partition: PartitionFiles as JSON, the files of its segments
    shuffle 1  (shard, rows): the sketches of some documents, packed
    shuffle 2  (0, pairs): the similar pairs of one shard, packed
    output     manifest lines of the files with the duplicate groups

It is a job because similar documents lie on different hosts, so in different partitions. They exchange about
300 bytes per document and shard, and never a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.jobs.shared.ordered import OrderedJob
from crawlctl.pipeline.duplicates.order import GroupOrder, PartitionFiles, write_all_groups
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.orders import decode_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COUNTERS = "duplicates"


class DuplicateGrouper(OrderedJob[GroupOrder]):
    """Sends sketches to the shards where similar ones meet, and joins the pairs found there to groups."""

    ORDER = GroupOrder

    def send_sketches(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Send the sketches of a partition to shards: (shard, rows)."""
        from crawlctl.pipeline.duplicates.sketch_rows import spread_rows

        files = decode_order(line, PartitionFiles)
        yield 0, b""  # so that the groups are written even if there is no document
        yield from spread_rows(self.store, files.entries, files.partition, self.order.shards)

    def find_pairs(self, _: int, messages: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Send the similar pairs of a shard to the last reducer: (0, pairs)."""
        from crawlctl.pipeline.duplicates.pairs import pairs_of

        yield 0, pairs_of(list(messages), self.order.threshold)

    def write_groups(self, _: int, messages: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Join all pairs to groups and write them: (none, manifest line)."""
        from crawlctl.pipeline.duplicates.pairs import grouped

        found = grouped(messages)
        self.increment_counter(COUNTERS, "grouped", len(found))
        self.increment_counter(COUNTERS, "groups", len(set(found["group"].tolist())))
        yield from self.emit_files(write_all_groups(self.store, self.order, found))

    def steps(self) -> list[MRStep]:
        """Return two steps: pairs per shard, then groups in one reducer (pairs.grouped states its limits)."""
        return [
            MRStep(
                mapper_init=self.open_order,
                mapper=self.send_sketches,
                reducer_init=self.open_order,
                reducer=self.find_pairs,
            ),
            MRStep(
                reducer_init=self.open_order,
                reducer=self.write_groups,
                jobconf={"mapreduce.job.reduces": 1},
            ),
        ]


if __name__ == "__main__":
    DuplicateGrouper.run()
