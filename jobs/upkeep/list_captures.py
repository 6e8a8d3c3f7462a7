"""ListCaptures: brings the tables of captures up to date with the archives, after a repair or a purge.

    input    one line per partition: its number
    shuffle  (partition, manifest line): a table with new captures of it, or an archive that was listed
    output   manifest lines of all tables of captures, and of the archives that were listed

It is a job because whole archives are read. It has reducers because an archive may have pages of several
partitions, if the crawl was copied into another number of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.jobs.shared.ordered import OrderedJob
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.repair.order import RelistOrder
from crawlctl.pipeline.repair.relist_task import list_partition, relist_partition
from crawlctl.pipeline.state.kinds import PAGES
from crawlctl.pipeline.state.manifest import decode_entry, encode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class ListCaptures(OrderedJob[RelistOrder]):
    """Reads the archives of one partition per map task, and writes the tables of one per reducer call."""

    ORDER = RelistOrder

    def list_partition(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """List the archives of one partition: (partition, manifest line).

        An empty line makes the reducer of the partition run in any case.
        """
        yield int(line), b""
        for entry in list_partition(self.store, self.order.draft, int(line)):
            yield entry.partition, encode_entry(entry)

    def relist_partition(self, partition: int, messages: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Join the tables of one partition: (none, manifest line)."""
        found = [decode_entry(message, "the shuffle") for message in messages if message]
        yield from self.emit_files(entry for entry in found if entry.kind == PAGES)
        tables = relist_partition(self.store, self.order.draft, partition, found, self.order.rules)
        yield from self.emit_files(tables)
        self.report_done(partition)

    def steps(self) -> list[MRStep]:
        """Return the one step."""
        return [
            MRStep(
                mapper_init=self.open_order,
                mapper=self.list_partition,
                reducer_init=self.open_order,
                reducer=self.relist_partition,
            )
        ]


if __name__ == "__main__":
    ListCaptures.run()
