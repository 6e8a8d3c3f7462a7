"""The CPU time of this process and of the children that it has waited for, with their children."""

from __future__ import annotations

import resource

# The counter by which each task of a job reports it.
TASK_COUNTERS = "task"
TASK_CPU = "cpu_milliseconds"


def cpu_seconds() -> float:
    """Return user and system time in seconds; a child counts once it has ended and was waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)
