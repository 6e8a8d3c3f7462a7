"""Tasks that can only finish together, and one whose program writes to the task's own streams."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mrjob.protocol import RawValueProtocol

from crawlctl.pipeline.mrjob_light import MRJob

if TYPE_CHECKING:
    from collections.abc import Iterator


class Meeting(MRJob):
    HADOOP_INPUT_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"

    def mapper(self, _: None, folder: str) -> Iterator[tuple[int, int]]:
        Path(folder, f"here-{os.getpid()}").touch()
        deadline = time.monotonic() + 30
        while (met := len(list(Path(folder).glob("here-*")))) < 6 and time.monotonic() < deadline:
            time.sleep(0.01)
        yield os.getpid(), met


class Shouting(MRJob):
    OUTPUT_PROTOCOL = RawValueProtocol

    def mapper(self, _: None, line: str) -> Iterator[tuple[None, str]]:
        subprocess.run(["echo", line], check=True)
        subprocess.run(["sh", "-c", "echo reporter:counter:programs,counted,3 >&2"], check=True)
        yield None, "said by the task"
