"""Fetcher/Indexer: fetches the due pages of each partition, archives, parses and indexes them.

Reads one line a task, the order of a partition, and emits the manifest of the runs the task saved. Map-only:
what belongs to a host lies in one partition, so nothing of it has to cross a shuffle.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.order import decode_order
from crawlctl.pipeline.fetch.stop_signal import stopped_by_signals
from crawlctl.pipeline.fetch.supervisor import fetch_supervised
from crawlctl.pipeline.mrjob_light import MRJob, light_imports
from crawlctl.pipeline.progress.task_file import Progress, ProgressFile
from crawlctl.pipeline.state.manifest import encode_entry
from crawlctl.pipeline.webdb.row_files import OUTCOMES

with light_imports():
    from mrjob.protocol import BytesValueProtocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.fetch.loop.fetch_progress import Standing

COUNTERS = "fetch"


class FetchIndex(MRJob):
    """One task per partition; a line of output for each file of its runs."""

    HADOOP_INPUT_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"
    INPUT_PROTOCOL = BytesValueProtocol
    OUTPUT_PROTOCOL = BytesValueProtocol
    JOBCONF = MappingProxyType(
        {
            "mapreduce.input.lineinputformat.linespermap": "1",
            # A second attempt beside the first would ask every host twice.
            "mapreduce.map.speculative": "false",
            "stream.map.input.ignoreKey": "true",
        }
    )

    def mapper(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        """Fetch one partition."""
        if not line.strip():
            return
        order = decode_order(line)
        self.progress = ProgressFile(order.progress, order.partition)
        with stopped_by_signals() as stop:
            fetched = fetch_supervised(order, progress=self.tell, should_stop=stop)
        if fetched.restarts:
            self.increment_counter(COUNTERS, "restarts", fetched.restarts)
        if fetched.gave_up:
            self.increment_counter(COUNTERS, "given_up")
            self.set_status(f"ended with what was saved: {fetched.gave_up}")
        for entry in fetched.files:
            if entry.kind == OUTCOMES:
                for name, amount in entry.counters.items():
                    self.increment_counter(COUNTERS, name, amount)
            yield None, encode_entry(entry)

    def tell(self, standing: Standing) -> None:
        """Keep driver and runner informed; Hadoop ends a task it has not heard of for ten minutes."""
        done, errors, waiting = standing.pages, standing.errors, standing.hosts_waiting
        self.progress.write(Progress(done, standing.planned, standing.bytes, errors, waiting))
        self.set_status(
            f"{standing.pages} of {standing.planned} pages, {standing.bytes >> 20} MB, "
            f"{standing.errors} errors, {standing.hosts_waiting} hosts waiting"
        )


if __name__ == "__main__":
    FetchIndex.run()
