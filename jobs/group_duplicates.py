"""DuplicateGrouper: finds the documents of the whole crawl that have nearly the same text.

    input      one line per partition: PartitionFiles as JSON, the files of its index and of the last grouping
    shuffle 1  (partition, Wanted): the keys of documents that are new or have lost the leader of their group
    shuffle 2  (shard, rows): the sketches of these documents and of leaders that share a key with one
    shuffle 3  (0, pairs): the similar pairs of one shard, packed
    shuffle 4  (partition, Labels): the groups that were found for its documents
    output     manifest lines of the files with the duplicate groups, and of what was compared

A Home, which says what is new in a partition, goes from its mapper to the task that writes its groups.

It is a job because similar documents lie on different hosts, so in different partitions. They exchange about
300 bytes per document that is compared, and never a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.jobs.shared.ordered import OrderedJob
from crawlctl.pipeline.duplicates.order import GroupOrder, Labels, PartitionFiles, encode_message
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.orders import decode_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class DuplicateGrouper(OrderedJob[GroupOrder]):
    """Sends sketches to the shards where similar ones meet, and joins the pairs found there to groups."""

    ORDER = GroupOrder

    def find_changes(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Tell the partitions what has changed in one of them: (partition, Home or Wanted)."""
        from crawlctl.pipeline.duplicates.changed_documents import messages_about

        yield from messages_about(self.store, self.order, decode_order(line, PartitionFiles))

    def send_sketches(self, partition: int, messages: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Send the sketches of documents that meet others to shards: (shard, rows)."""
        from crawlctl.pipeline.duplicates.meetings import meetings

        yield from meetings(self.store, self.order, partition, messages)

    def find_pairs(self, shard: int, messages: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Send the similar pairs of a shard to the task that joins them: (0, pairs)."""
        from crawlctl.pipeline.duplicates.pairs import pairs_of

        if shard >= self.order.shards:
            yield from ((shard, message) for message in messages)
        else:
            yield 0, pairs_of(list(messages), self.order.threshold)

    def join_pairs(self, task: int, messages: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Join all pairs to groups, and send these to the partitions: (partition, Labels)."""
        from crawlctl.pipeline.duplicates.pairs import by_partition, grouped

        if task >= self.order.shards:
            yield from ((task - self.order.shards, message) for message in messages)
            return
        for partition, rows in by_partition(grouped(messages)):
            yield partition, encode_message(Labels(rows))

    def write_groups(self, partition: int, messages: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Write the groups of a partition: (none, manifest line)."""
        from crawlctl.pipeline.duplicates.new_groups import write_partition

        yield from self.emit_files(write_partition(self.store, self.order, partition, messages))

    def steps(self) -> list[MRStep]:
        """Return four steps; one task joins all pairs (pairs.grouped states its limits)."""
        first, *others = (self.send_sketches, self.find_pairs, self.join_pairs, self.write_groups)
        return [
            MRStep(
                mapper_init=self.open_order,
                mapper=self.find_changes,
                reducer_init=self.open_order,
                reducer=first,
            ),
            *(MRStep(reducer_init=self.open_order, reducer=reducer) for reducer in others),
        ]


if __name__ == "__main__":
    DuplicateGrouper.run()
