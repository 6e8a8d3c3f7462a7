"""WebDBReviser: changes entries of the WebDB after a command of the user, without fetching.

    input    one line per partition: PartLine as JSON, with the files of its part and host table
    output   one line per partition: RevisedPart as JSON, with the new files and what has changed

It is a job because parts are read side by side, and no machine needs to hold them all. It has no reducers,
because an entry depends at most on pages of its own partition. The output is more than a manifest: commands
print the counts, and the counters of a job also count attempts that failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.jobs.shared.ordered import OrderedJob
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.orders import decode_order
from crawlctl.pipeline.webdb.revision.order import PartLine, ReviseOrder, encode_part
from crawlctl.pipeline.webdb.revision.task import revise_partition

if TYPE_CHECKING:
    from collections.abc import Iterator


class WebDBReviser(OrderedJob[ReviseOrder]):
    """Revises one partition per map task."""

    ORDER = ReviseOrder

    def revise_partition(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        """Revise one partition: (none, what has changed)."""
        order = decode_order(line, PartLine)
        revised = revise_partition(self.store, self.order, order)
        self.report_done(order.partition)
        yield None, encode_part(revised)

    def steps(self) -> list[MRStep]:
        """Return the one step."""
        return [MRStep(mapper_init=self.open_order, mapper=self.revise_partition)]


if __name__ == "__main__":
    WebDBReviser.run()
