"""ForkedRunner: the default runner on one machine; each task runs inline in a forked child.

A task costs some hundredths of a CPU-second before its first record, because the child inherits all imports
of the driver. mrjob's `local` runner pays for a shell, a new interpreter and all imports.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from crawlctl.pipeline.runners.here.simulated import InlineRunner, SimulatedRunner
from crawlctl.pipeline.runners.here.task_children import TRIES, ChildDied, run_in_children, was_killed
from crawlctl.pipeline.runners.job_failures import Task, TaskFailed, died

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from crawlctl.pipeline.runners.here.simulated import RunTask


class ForkingRunner(SimulatedRunner):
    """Runs the tasks of a phase in children, at most one per worker at the same time.

    A task that is killed runs again: mrjob opens the output and the counters of a task anew in each try, so
    nothing of the earlier try stays in them.
    """

    _phase = ("mapper", 0)

    def _invoke_task_func(self, task_type: str, step_num: int, task_num: int) -> RunTask:
        if task_type != "combiner":  # a combiner runs in the child of its mapper
            self._phase = (task_type, step_num)
        return super()._invoke_task_func(task_type, step_num, task_num)

    def _run_multiple(
        self,
        funcs: Iterable[Callable[[], None]],
        num_processes: int | None = None,  # part of mrjob's signature, never given
    ) -> None:
        try:
            run_in_children(funcs, limit=self._num_cores())
        except ChildDied as err:
            tries = TRIES if was_killed(err.exit_code) else 1
            raise TaskFailed(died(Task(*self._phase, err.number), err.exit_code, tries)) from err

    def _run_mapper_and_combiner_func(
        self, step_num: int, task_num: int, map_split: dict[str, Any]
    ) -> Callable[[], None]:
        run: Callable[[], None] = super()._run_mapper_and_combiner_func(step_num, task_num, map_split)
        if "mapper" in self._get_step(step_num):
            return run
        # Without a mapper the input is linked as its output; a killed try may have done that already.
        output = Path(self._task_output_path("mapper", step_num, task_num))

        def run_anew() -> None:
            output.unlink(missing_ok=True)
            run()

        return run_anew


class ForkedRunner(ForkingRunner, InlineRunner):
    """Runs each task inline in a child."""

    alias = "forked"

    def _invoke_task_func(self, task_type: str, step_num: int, task_num: int) -> RunTask:
        run_task = super()._invoke_task_func(task_type, step_num, task_num)

        def run_redirected(
            stdin: BinaryIO, stdout: BinaryIO, stderr: BinaryIO, wd: str, env: Mapping[str, str]
        ) -> None:
            # As on Hadoop, programs started by the task and C libraries use its streams too.
            for standard, stream in enumerate((stdin, stdout, stderr)):
                os.dup2(stream.fileno(), standard)
            run_task(stdin, stdout, stderr, wd, env)

        return run_redirected
