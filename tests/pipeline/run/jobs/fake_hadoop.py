"""Stands in for the program `hadoop`: notes its command line and plays a job that works, fails or hangs."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path

SUBMITTED = (
    "26/11/16 03:00:00 INFO impl.YarnClientImpl: Submitted application application_1763000000000_0007\n"
    "26/11/16 03:00:00 INFO mapreduce.Job: Running job: job_1763000000000_0007\n"
)
COUNTERS = (
    "26/11/16 03:00:09 INFO mapreduce.Job: Counters: 2\n"
    "\tMap-Reduce Framework\n\t\tMap input records=2\n\twords\n\t\tlines=2\n"
)


def main(folder: Path, arguments: list[str]) -> int:
    with (folder / "calls").open("a") as calls:
        calls.write(json.dumps(arguments) + "\n")
    match arguments:
        case ["version"]:
            print("Hadoop 3.4.2")
        case ["fs", "-put", source, target]:
            shutil.copy(source, folder / "put" / Path(target).name)
        case ["fs", "-cat", *_]:
            sys.stdout.write('1\t["two"]\n2\t["one"]\n')
        case ["jar", *_]:
            return play(os.environ["FAKE_HADOOP"], folder)
    return 0


def play(how: str, folder: Path) -> int:
    sys.stderr.write(SUBMITTED)
    sys.stderr.flush()
    if how == "hang":
        (folder / "half").write_text(str(os.getpid()))
        (folder / "half").rename(folder / "client")
        time.sleep(600)
    sys.stderr.write(COUNTERS)
    return 1 if how == "fail" else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
