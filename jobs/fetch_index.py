"""FetchIndex: fetches the due pages of each partition, archives, parses and indexes them.

    input    one line per partition: FetchOrder as JSON
    output   manifest lines of the runs that the task saved

It is a job because partitions are fetched side by side. It has no reducers: all pages of a host lie in one
partition, so nothing has to cross a shuffle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from crawlctl.jobs.shared.ordered import LineJob
from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.fetch.save.latency import is_latency
from crawlctl.pipeline.fetch.stop_signal import stopped_by_signals
from crawlctl.pipeline.fetch.supervisor import fetch_supervised
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.orders import decode_order
from crawlctl.pipeline.progress.task_file import Progress, ProgressFile
from crawlctl.pipeline.state.kinds import OUTCOMES
from crawlctl.pipeline.terminal.counted import counted, sized

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


COUNTERS = "fetch"


class FetchIndex(LineJob[FetchOrder]):
    """Fetches one partition per map task."""

    ORDER = FetchOrder
    IS_SILENT: ClassVar[bool] = False

    def jobconf(self) -> Mapping[str, Any]:
        """Allow no second attempt beside the first: it would ask every host twice."""
        return {**super().jobconf(), "mapreduce.map.speculative": "false"}

    def fetch_partition(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        """Fetch the pages of one partition: (none, manifest line)."""
        order = decode_order(line, self.ORDER)
        self.progress = ProgressFile(order.progress, order.partition)
        with stopped_by_signals() as stop:
            fetched = fetch_supervised(order, progress=self.report_progress, should_stop=stop)
        if fetched.restarts:
            self.increment_counter(COUNTERS, "restarts", fetched.restarts)
        if fetched.gave_up:
            self.increment_counter(COUNTERS, "given_up")
            self.set_status(f"ended with what was saved: {fetched.gave_up}")
        for entry in fetched.files:
            if entry.kind == OUTCOMES:
                # Hadoop allows 120 counters a job, and latencies alone have 81; the manifest has them all.
                shown = {name: count for name, count in entry.counters.items() if not is_latency(name)}
                self.count_all(COUNTERS, shown)
        yield from self.emit_files(fetched.files)

    def report_progress(self, progress: Progress) -> None:
        """Report to the driver and to Hadoop, which ends a task after ten minutes without a report."""
        self.progress.write(progress)
        self.set_status(
            f"{progress.done:,} of {counted(progress.total, 'page')}, {sized(progress.bytes)}, "
            f"{counted(progress.errors, 'error')}, {counted(progress.waiting, 'host')} waiting"
        )

    def steps(self) -> list[MRStep]:
        """Return the one step."""
        return [MRStep(mapper=self.fetch_partition)]


if __name__ == "__main__":
    FetchIndex.run()
