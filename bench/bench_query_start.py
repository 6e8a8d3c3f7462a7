"""A query as a whole process: time from the fork of the shell to the last line printed.

    python bench/bench_query_start.py --store crawl [--runs 20] [WORDS...]

Figures are medians of the runs, after one run that warms the page cache and compiles what pip would have
compiled. The commands take turns, so that a busy moment of the machine affects all of them. Printed are wall
time and CPU time; other processes disturb the latter less. A bare interpreter is measured too, because we
cannot make the start of Python faster, and so is `crawlctl version`, which goes through click.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

WORDS = ("file", "system")


class Run(NamedTuple):
    """Milliseconds of one process."""

    clock: float
    processor: float


def main() -> None:
    """Print one line per command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", default="crawl", help="folder of a crawl with an index")
    parser.add_argument("--runs", type=int, default=20, help="processes of each kind")
    parser.add_argument("words", nargs="*", default=WORDS, help="the words of the query")
    options = parser.parse_args()
    crawlctl = str(Path(sys.executable).with_name("crawlctl"))
    query = [crawlctl, "query", "--store", options.store, "--"]
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "crawlctl version": [crawlctl, "version"],
        f"crawlctl query {' '.join(options.words)}": [*query, *options.words],
        f"crawlctl query AND {' '.join(options.words)}": [*query, "AND", *options.words],
    }
    for name, runs in measured(commands, options.runs).items():
        columns = []
        for unit, times in zip(Run._fields, zip(*runs, strict=True), strict=True):
            columns.append(f"{unit} median {statistics.median(times):6.1f} ms, best {min(times):6.1f} ms")
        print(f"{name:<40} {'   '.join(columns)}")


def measured(commands: dict[str, list[str]], count: int) -> dict[str, list[Run]]:
    """Return the times of each command; the commands take turns."""
    with tempfile.TemporaryDirectory() as compiled:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for command in commands.values():
            run_of(command, environment)
        found: dict[str, list[Run]] = {name: [] for name in commands}
        for _ in range(count):
            for name, command in commands.items():
                found[name].append(run_of(command, environment))
    return found


def run_of(command: list[str], environment: dict[str, str]) -> Run:
    """Run a process and return its times."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    clock = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Run(clock * 1000, (used.ru_utime + used.ru_stime) * 1000)


if __name__ == "__main__":
    main()
