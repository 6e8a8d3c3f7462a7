"""CheckCrawl: checks each file of a crawl against its manifest, and all files against each other.

    input    one line per partition: its number
    output   one line per finding: Finding as JSON

It is a job because every byte of the crawl is read. It has no reducers: files refer only to files of their
own partition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.jobs.shared.ordered import OrderedJob
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.repair.finding import encode_finding
from crawlctl.pipeline.repair.order import CheckOrder
from crawlctl.pipeline.state.snapshots import load_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator


class CheckCrawl(OrderedJob[CheckOrder]):
    """Checks one partition per map task."""

    ORDER = CheckOrder

    def check_partition(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        """Check one partition: (none, finding)."""
        from crawlctl.pipeline.repair.file_check import check_partition

        partition = int(line)
        snapshot = load_snapshot(self.store, self.order.snapshot)
        for finding in check_partition(self.store, snapshot, partition):
            yield None, encode_finding(finding)
        self.report_done(partition)

    def steps(self) -> list[MRStep]:
        """Return the one step."""
        return [MRStep(mapper_init=self.open_order, mapper=self.check_partition)]


if __name__ == "__main__":
    CheckCrawl.run()
