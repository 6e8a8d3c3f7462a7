"""DuplicateGrouper: finds the pages that say nearly the same, over the whole crawl.

Reads lines that name the segments of a partition. Mappers send the sketches of documents to shards, reducers
find who is similar to whom in a shard, and one last reducer joins the pairs to groups and emits the manifest
of their files. It is a job because similar pages lie on different hosts, so in different partitions: they
exchange some 300 bytes a document and shard, and never a text.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.jobs.ordered import OrderedJob
from crawlctl.pipeline.duplicates.order import group_order, partition_files, write_all_groups
from crawlctl.pipeline.mrjob_light import light_imports
from crawlctl.pipeline.state.manifest import encode_entry
from crawlctl.pipeline.store.open import open_store

with light_imports():
    from mrjob.step import MRStep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COUNTERS = "duplicates"


class DuplicateGrouper(OrderedJob):
    """Sends sketches where similar ones meet, and makes groups of the pairs found."""

    def steps(self) -> list[MRStep]:
        """Find pairs in shards, then groups in one place, which pairs.grouped says the bounds of."""
        return [
            MRStep(
                mapper_init=self.open_order,
                mapper=self.send_rows,
                reducer_init=self.open_order,
                reducer=self.find_pairs,
            ),
            MRStep(
                reducer_init=self.open_order,
                reducer=self.make_groups,
                jobconf={"mapreduce.job.reduces": 1},
            ),
        ]

    def open_order(self) -> None:
        """Open the store."""
        self.order = group_order(Path(self.options.order).read_bytes())
        self.store = open_store(self.order.store)

    def send_rows(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Send the documents of a partition to shards: (shard, rows)."""
        from crawlctl.pipeline.duplicates.sketch_rows import spread_rows

        files = partition_files(line)
        yield 0, b""  # without any document the groups have to be written as well
        yield from spread_rows(self.store, files.entries, files.partition, self.order.shards)

    def find_pairs(self, _: int, messages: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Send the similar pairs of a shard to the last reducer."""
        from crawlctl.pipeline.duplicates.pairs import pairs_of

        yield 0, pairs_of(list(messages), self.order.threshold)

    def make_groups(self, _: int, messages: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Write the groups and emit their files."""
        from crawlctl.pipeline.duplicates.pairs import grouped

        found = grouped(messages)
        self.increment_counter(COUNTERS, "grouped", len(found))
        self.increment_counter(COUNTERS, "groups", len(set(found["group"].tolist())))
        for entry in write_all_groups(self.store, self.order, found):
            yield None, encode_entry(entry)


if __name__ == "__main__":
    DuplicateGrouper.run()
