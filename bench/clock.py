"""Measures CPU time and wall time, for all benchmarks.

CPU time is what the figures in README.md compare: it changes little when the machine is busy. It includes the
child processes that have ended, because jobs and parsers run in children.
"""

from __future__ import annotations

import os
import resource
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Times(NamedTuple):
    """Seconds of CPU time and seconds on the clock."""

    cpu: float
    wall: float


def keep_byte_code() -> None:
    """Let child processes save byte code, as an installed package has it.

    Where PYTHONDONTWRITEBYTECODE is set, each process of a checkout compiles all modules again. That costs
    half a CPU second per process, and users of an installed package never see it.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def cpu_seconds() -> float:
    """Return the CPU seconds that this process and its ended children have used so far."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measured(work: Callable[[], object]) -> Times:
    """Do the work once and return how long it took."""
    cpu, wall = cpu_seconds(), time.perf_counter()
    work()
    return Times(cpu_seconds() - cpu, time.perf_counter() - wall)


def best_of(work: Callable[[], object], repeat: int) -> Times:
    """Do the work several times and return the least CPU time and the least wall time."""
    times = [measured(work) for _ in range(repeat)]
    return Times(min(one.cpu for one in times), min(one.wall for one in times))
