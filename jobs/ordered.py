"""OrderedJob: what the jobs share that work by an order.

The order is a file, the same for all tasks; the input is lines, one a map task; what tasks send each other is
packed bytes by shard; and the output is a manifest of the files that were written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlctl.jobs.shards import ShardProtocol
from crawlctl.pipeline.mrjob_light import MRJob, light_imports

with light_imports():
    from mrjob.protocol import BytesValueProtocol

if TYPE_CHECKING:
    from collections.abc import Mapping


# A merge says nothing while it works, and Hadoop would end a task after ten silent minutes.
SILENCE_MILLISECONDS = 6 * 3600 * 1000


class OrderedJob(MRJob):
    """Takes the name of a file with an order, and how many reducers there are to be."""

    HADOOP_INPUT_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"
    INPUT_PROTOCOL = BytesValueProtocol
    INTERNAL_PROTOCOL = ShardProtocol
    OUTPUT_PROTOCOL = BytesValueProtocol

    def configure_args(self) -> None:
        """Add the order, and the number of reducers, which the driver must know before any task runs."""
        super().configure_args()
        self.add_file_arg("--order", help="what to do, as JSON")
        self.add_passthru_arg("--reducers", type=int, default=1, help="as many as there are shards")

    def jobconf(self) -> Mapping[str, Any]:
        """Ask for a line a map task, without its offset, and for the reducers."""
        wanted = {
            "mapreduce.input.lineinputformat.linespermap": "1",
            "stream.map.input.ignoreKey": "true",
            "mapreduce.job.reduces": self.options.reducers,
            "mapreduce.task.timeout": str(SILENCE_MILLISECONDS),
        }
        return {**super().jobconf(), **wanted}
