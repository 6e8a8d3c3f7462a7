"""LineJob and OrderedJob: what all jobs of crawlctl share.

    input     lines, one per map task
    order     the task order, JSON that says what to do: a file that all tasks read (OrderedJob), or the input
              line of each task itself (LineJob)
    shuffle   (shard, packed bytes), see jobs/shared/shards.py
    output    manifest lines: one FileEntry as JSON per file that a task wrote; they count when the task
              has ended, so its files are synced together at its end

A job's records therefore never hold pages or postings: tasks read and write the store by themselves.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from crawlctl.jobs.shared.shards import ShardProtocol
from crawlctl.pipeline.mrjob_light import MRJob, light_imports
from crawlctl.pipeline.orders import OrderT, StoreOrder, decode_order
from crawlctl.pipeline.processes.cpu_time import TASK_COUNTERS, TASK_CPU, cpu_seconds
from crawlctl.pipeline.progress.task_file import Progress, ProgressFile
from crawlctl.pipeline.state.manifest import encode_entry
from crawlctl.pipeline.store.local.sync_group import synced_together
from crawlctl.pipeline.store.open import open_store

with light_imports():
    from mrjob.protocol import BytesValueProtocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crawlctl.pipeline.state.manifest import FileEntry


StoreOrderT = TypeVar("StoreOrderT", bound=StoreOrder)

# A merge reports nothing while it works, and Hadoop would end a task after ten silent minutes.
SILENCE_MILLISECONDS = 6 * 3600 * 1000


class LineJob(MRJob, Generic[OrderT]):
    """A job that gives each map task one line of the input, without its offset; the line is an ORDER."""

    ORDER: type[OrderT]
    # Whether a task may be silent for long. A task that usually reports all the time has hung if it stops
    # reporting.
    IS_SILENT: ClassVar[bool] = True

    HADOOP_INPUT_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"
    INPUT_PROTOCOL = BytesValueProtocol
    INTERNAL_PROTOCOL = ShardProtocol
    OUTPUT_PROTOCOL = BytesValueProtocol

    def jobconf(self) -> Mapping[str, Any]:
        """Return the settings of Hadoop for one line per map task."""
        wanted = {
            "mapreduce.input.lineinputformat.linespermap": "1",
            "stream.map.input.ignoreKey": "true",
        }
        if self.IS_SILENT:
            wanted["mapreduce.task.timeout"] = str(SILENCE_MILLISECONDS)
        return {**super().jobconf(), **wanted}

    def run_mapper(self, step_num: int = 0) -> None:
        """Run a map task, and count its CPU time."""
        with self._counted_cpu(), synced_together():
            super().run_mapper(step_num)

    def run_reducer(self, step_num: int = 0) -> None:
        """Run a reduce task, and count its CPU time."""
        with self._counted_cpu(), synced_together():
            super().run_reducer(step_num)

    @contextmanager
    def _counted_cpu(self) -> Iterator[None]:
        """Count the CPU time of this process and its children: a driver elsewhere cannot measure it."""
        before = cpu_seconds()
        yield
        self.increment_counter(TASK_COUNTERS, TASK_CPU, round(1000 * (cpu_seconds() - before)))

    def count_all(self, group: str, amounts: Mapping[str, int]) -> None:
        """Add amounts to the counters of the same names."""
        for name, amount in amounts.items():
            self.increment_counter(group, name, amount)

    def emit_files(self, entries: Iterable[FileEntry]) -> Iterator[tuple[None, bytes]]:
        """Yield the manifest lines of files, as the last step of a job does."""
        yield from ((None, encode_entry(entry)) for entry in entries)


class OrderedJob(LineJob[StoreOrderT]):
    """A job whose tasks all work by the same ORDER, in a file; each opens the order and its store first."""

    order: StoreOrderT

    def configure_args(self) -> None:
        """Add the order, and the number of reducers, which the driver must know before any task runs."""
        super().configure_args()
        self.add_file_arg("--order", help="a file with the task order, as JSON")
        self.add_passthru_arg("--reducers", type=int, default=1, help="number of reducers: one per shard")

    def jobconf(self) -> Mapping[str, Any]:
        """Add the number of reducers."""
        return {**super().jobconf(), "mapreduce.job.reduces": self.options.reducers}

    def open_order(self) -> None:
        """Read the order and open its store; a task of any step starts with this, in its own process."""
        self.order = decode_order(Path(self.options.order).read_bytes(), self.ORDER)
        self.store = open_store(self.order.store)

    def report_done(self, partition: int, size: int = 0) -> None:
        """Tell the driver that a partition is done, and how many bytes were written for it."""
        file = ProgressFile(self.order.progress, partition)
        file.write(Progress(done=1, total=1, bytes=size))
        file.close()
