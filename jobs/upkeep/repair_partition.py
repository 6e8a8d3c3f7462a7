"""RepairPartition: saves the sound parts of damaged files, or finds the pages that have lost data.

    input    one line per partition: PartitionRepair as JSON
    output   manifest lines of the files that were written

It is a job because it reads whole partitions. It has no reducers: partitions are repaired independently of
each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.jobs.shared.ordered import OrderedJob
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.orders import decode_order
from crawlctl.pipeline.repair.order import PartitionRepair, RepairOrder

if TYPE_CHECKING:
    from collections.abc import Iterator


class RepairPartition(OrderedJob[RepairOrder]):
    """Repairs one partition per map task."""

    ORDER = RepairOrder

    def repair_partition(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        """Carry out the order for one partition: (none, manifest line)."""
        from crawlctl.pipeline.repair.live_pages import write_lost
        from crawlctl.pipeline.repair.salvaging import salvage

        wanted, draft = decode_order(line, PartitionRepair), self.order.draft
        if wanted.salvage:
            yield from self.emit_files(salvage(self.store, draft, wanted.partition, wanted.salvage))
        if wanted.find_lost:
            lost = write_lost(self.store, draft, wanted.partition, wanted.lost_rounds, self.order.now)
            yield from self.emit_files(lost)
        self.report_done(wanted.partition)

    def steps(self) -> list[MRStep]:
        """Return the one step."""
        return [MRStep(mapper_init=self.open_order, mapper=self.repair_partition)]


if __name__ == "__main__":
    RepairPartition.run()
