"""A task that is killed, with output and counters half written, as often as its line says."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.pipeline.mrjob_light import MRJob, MRStep

if TYPE_CHECKING:
    from collections.abc import Iterator


class Dying(MRJob):
    HADOOP_INPUT_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"

    def steps(self) -> list[MRStep]:
        return [MRStep(mapper=self.mapper_dying, combiner=self.add_up, reducer=self.add_up)]

    def mapper_dying(self, _: None, line: str) -> Iterator[tuple[str, int]]:
        folder, deaths = line.split()
        tries = Path(folder, f"tries-{deaths}")
        with tries.open("a") as note:
            note.write("x")
        self.increment_counter("tests", "tries")
        for word in range(1000):
            yield f"word {word}", 1
        sys.stdout.flush()
        if len(tries.read_text()) <= int(deaths):
            os.kill(os.getpid(), signal.SIGKILL)

    def add_up(self, word: str, counts: Iterator[int]) -> Iterator[tuple[str, int]]:
        yield word, sum(counts)
