"""LocalRunner: mrjob's `local` runner, but no task outlives the driver.

Each task is a program of its own, as on Hadoop. mrjob's own pool leaves the programs of four tasks running if
only the driver gets a signal. Here a child that leads a process group starts each program, and the group ends
with the driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.mrjob_light import light_imports
from crawlctl.pipeline.runners.here.forked import ForkingRunner
from crawlctl.pipeline.runners.job_failures import Task, TaskReport, exited

with light_imports():
    from mrjob.local import LocalMRJobRunner

if TYPE_CHECKING:
    from pathlib import Path


class LocalRunner(ForkingRunner, LocalMRJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Runs each task as `python job.py --mapper` in a working directory of its own."""

    def _report(self, task: Task, err: BaseException, stderr: Path) -> TaskReport:
        return exited(task, err, stderr)
