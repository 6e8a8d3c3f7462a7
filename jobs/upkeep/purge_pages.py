"""PurgePages: removes forgotten pages from the WebDB and the archive.

    input    one line per partition: its number
    output   one line per partition that had forgotten pages: PurgedPartition as JSON

It is a job because it reads the whole WebDB and the whole archive. It has no reducers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.jobs.shared.ordered import OrderedJob
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.repair.order import PurgeOrder
from crawlctl.pipeline.state.snapshots import load_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator


class PurgePages(OrderedJob[PurgeOrder]):
    """Purges one partition per map task."""

    ORDER = PurgeOrder

    def purge_partition(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        """Purge one partition: (none, what was removed and written)."""
        from crawlctl.pipeline.repair.purge_task import purge_partition

        snapshot = load_snapshot(self.store, self.order.snapshot)
        purged = purge_partition(self.store, snapshot, int(line), self.order.rules)
        if purged.dropped:
            yield None, msgspec.json.encode(purged)
        self.report_done(int(line))

    def steps(self) -> list[MRStep]:
        """Return the one step."""
        return [MRStep(mapper_init=self.open_order, mapper=self.purge_partition)]


if __name__ == "__main__":
    PurgePages.run()
