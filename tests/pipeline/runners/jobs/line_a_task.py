"""Map-only, one task a line, written against mrjob alone as a stranger's job would be."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, ClassVar

from mrjob.compat import jobconf_from_env
from mrjob.job import MRJob

if TYPE_CHECKING:
    from collections.abc import Iterator


class LineATask(MRJob):  # type: ignore[misc]  # mrjob has no types
    HADOOP_INPUT_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"
    JOBCONF: ClassVar = {"stream.map.input.ignoreKey": "true"}

    def mapper_init(self) -> None:
        self.lines: list[str] = []

    def mapper(self, _: None, line: str) -> None:
        self.lines.append(line)
        print("text for people", file=sys.stderr)

    def mapper_final(self) -> Iterator[tuple[str, list[str]]]:
        self.increment_counter("tasks", "finished")
        yield jobconf_from_env("mapreduce.task.partition"), self.lines


if __name__ == "__main__":
    LineATask.run()
