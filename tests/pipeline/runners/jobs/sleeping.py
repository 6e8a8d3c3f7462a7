"""Each task starts a program of its own, leaves a file that names both processes, and sleeps."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from crawlctl.pipeline.mrjob_light import MRJob


class Sleeping(MRJob):
    HADOOP_INPUT_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"

    def mapper(self, _: None, folder: str) -> None:
        program = subprocess.Popen(["sleep", "600"])
        half = Path(folder, f".{os.getpid()}")
        half.write_text(f"{os.getpid()} {program.pid}")
        half.rename(Path(folder, str(os.getpid())))
        time.sleep(600)


if __name__ == "__main__":
    Sleeping.run()
