"""What a query costs as a whole process, from the shell's fork to the last line printed.

    python bench/bench_query_start.py --store crawl [--runs 20] [WORDS...]

The median of the runs counts, after one that warms the page cache and compiles what pip would have compiled.
Beside it stand the same figures for a bare interpreter and for `crawlctl version`, since what starts Python
and click is not ours to save.
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

WORDS = ("AND", "file", "system")


def main() -> None:
    """Print a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", default="crawl", help="folder of a crawl with an index")
    parser.add_argument("--runs", type=int, default=20, help="processes of each kind")
    parser.add_argument("words", nargs="*", default=WORDS, help="the query")
    options = parser.parse_args()
    crawlctl = str(Path(sys.executable).with_name("crawlctl"))
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "crawlctl version": [crawlctl, "version"],
        f"crawlctl query {' '.join(options.words)}": [
            crawlctl,
            "query",
            "--store",
            options.store,
            "--",
            *options.words,
        ],
    }
    with tempfile.TemporaryDirectory() as compiled:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for name, command in commands.items():
            _milliseconds(command, environment)
            times = [_milliseconds(command, environment) for _ in range(options.runs)]
            print(f"{name:<40} median {statistics.median(times):6.1f} ms   best {min(times):6.1f} ms")


def _milliseconds(command: list[str], environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, env=environment, check=True)
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    main()
