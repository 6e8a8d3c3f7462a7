"""The cost of a job that does nothing: CPU seconds on the runners of one machine.

    python bench/bench_runner.py [--repeat 5]

Figures are the user and system time of the process and all its children, medians of the repeats. The last
column is without the time of a bare interpreter: what remains is the import of mrjob and crawlctl, and three
steps over ten records.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from clock import measured

RECORDS = 10
NULL_JOB = """
import sys
sys.path.insert(0, {bench!r})
from null_job import NullJob
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.config.settings import RunnerSettings
result = run_job(NullJob, [{records!r}], settings=RunnerSettings(name={runner!r}))
assert len(result.output) == {count}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as records:
        records.writelines(f"record {number}\n" for number in range(RECORDS))
        records.flush()
        table = [(name, cpu_of_program(code, repeat)) for name, code in programs(records.name)]
    bare = table[0][1]
    print(f"Python {sys.version.split()[0]}, median of {repeat}\n")
    print(f"{'':32}{'CPU-s':>8}{'beyond start':>14}")
    for name, seconds in table:
        print(f"{name:32}{seconds:8.3f}{seconds - bare:14.3f}")


def programs(records: str) -> list[tuple[str, str]]:
    """Return the names and programs to measure, the bare interpreter first."""
    bench = str(Path(__file__).parent)

    def null_job(runner: str) -> str:
        return NULL_JOB.format(bench=bench, records=records, runner=runner, count=RECORDS)

    return [
        ("interpreter start", "pass"),
        ("import mrjob.job", "import mrjob.job"),
        ("import crawlctl…mrjob_light", "import crawlctl.pipeline.mrjob_light"),
        (
            "import crawlctl…here.forked",
            "import crawlctl.pipeline.runners.job, crawlctl.pipeline.runners.here.forked",
        ),
        *((f"null job, 3 steps, {runner}", null_job(runner)) for runner in ("forked", "inline", "local")),
    ]


def cpu_of_program(code: str, repeat: int) -> float:
    """Return the median CPU seconds of a Python program and its children, after one run to warm caches."""
    program = partial(subprocess.run, [sys.executable, "-c", code], check=True)
    return statistics.median([measured(program).cpu for _ in range(repeat + 1)][1:])


if __name__ == "__main__":
    main()
