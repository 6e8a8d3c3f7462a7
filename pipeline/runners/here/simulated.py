"""SimulatedRunner and InlineRunner: mrjob's simulation of Hadoop on this machine, improved.

mrjob ignores the input format and the number of reducers here, splits even the smallest input into twice as
many tasks as there are cores, and does not say which task failed. We override some of its private methods;
tests/pipeline/runners/here/test_simulated.py pins them to the version of mrjob that we require.
"""

from __future__ import annotations

import io
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from crawlctl.pipeline.mrjob_light import light_imports
from crawlctl.pipeline.processes.signals import Terminated
from crawlctl.pipeline.runners.here.shuffle_sort import deal_groups, sort_lines
from crawlctl.pipeline.runners.job_failures import Task, TaskFailed, TaskReport, raised

with light_imports():
    from mrjob.inline import InlineMRJobRunner
    from mrjob.sim import SimMRJobRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    RunTask = Callable[[BinaryIO, Any, Any, str, Mapping[str, str]], None]

LINE_A_TASK = "org.apache.hadoop.mapred.lib.NLineInputFormat"
REDUCES = "mapreduce.job.reduces"
# Bytes that a mapper reads in the two hundredths of a second that the start of a task costs.
LEAST_SPLIT_BYTES = 256 << 10
# All files of the reducers are open at once while groups are dealt; macOS allows 256.
MOST_REDUCERS = 128


class SimulatedRunner(SimMRJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Splits input, sorts and reports failures for the inline, forked and local runners."""

    # mrjob warns that it ignores these options; this runner obeys the input format.
    _IGNORED_HADOOP_KWARGS = ("hadoop_output_format", "partitioner")

    def _invoke_task_func(self, task_type: str, step_num: int, task_num: int) -> RunTask:
        run_task = super()._invoke_task_func(task_type, step_num, task_num)
        task = Task(task_type, step_num, task_num)

        def run_named(
            stdin: BinaryIO, stdout: BinaryIO, stderr: BinaryIO, wd: str, env: Mapping[str, str]
        ) -> None:
            try:
                run_task(stdin, stdout, stderr, wd, env)
            except Terminated:
                raise
            except (Exception, SystemExit) as err:
                raise TaskFailed(self._report(task, err, Path(stderr.name))) from err

        return run_named

    def _report(self, task: Task, err: BaseException, stderr: Path) -> TaskReport:
        return raised(task, err)

    def _pick_mapper_split_size(self, input_paths: Sequence[str], step_num: int) -> int:
        if step_num == 0 and self._hadoop_input_format == LINE_A_TASK:
            return 1  # a split ends once it holds a byte
        size: int = super()._pick_mapper_split_size(input_paths, step_num)
        return max(size, LEAST_SPLIT_BYTES)

    def _sort_input_func(self) -> Callable[[Sequence[str], str], None]:
        return partial(sort_lines, by_value=bool(self._sort_values), scratch=self._get_local_tmp_dir())

    def _split_reducer_input(self, step_num: int) -> int:
        sorted_lines: str = self._sorted_reducer_input_path(step_num)

        def target(task_num: int) -> str:
            path: str = self._task_input_path("reducer", step_num, task_num)
            self.fs.mkdir(str(Path(path).parent))
            return path

        return deal_groups(sorted_lines, target, self._reduce_tasks(step_num, sorted_lines))

    def _reduce_tasks(self, step_num: int, sorted_lines: str) -> int:
        """Return the number of reducers of the job, else one per worker if there is enough to reduce."""
        asked = int(self._jobconf_for_step(step_num).get(REDUCES) or 0)
        if asked > 0:
            return min(asked, MOST_REDUCERS)
        enough = 1 + Path(sorted_lines).stat().st_size // LEAST_SPLIT_BYTES
        return min(enough, int(self._num_reducers(step_num)), MOST_REDUCERS)


class InlineRunner(SimulatedRunner, InlineMRJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Runs all tasks in the driver, one after the other: for debuggers."""

    def _invoke_task_func(self, task_type: str, step_num: int, task_num: int) -> RunTask:
        run_task = super()._invoke_task_func(task_type, step_num, task_num)

        def run_with_text(
            stdin: BinaryIO, stdout: BinaryIO, stderr: BinaryIO, wd: str, env: Mapping[str, str]
        ) -> None:
            with as_text(stdout) as out, as_text(stderr) as err:
                run_task(stdin, out, err, wd, env)

        return run_with_text


@contextmanager
def as_text(stream: BinaryIO) -> Iterator[TextIO]:
    """Return a text stream over the file: a task may print or warn, which a stream of bytes refuses."""
    text = io.TextIOWrapper(
        stream, encoding="utf-8", errors="backslashreplace", line_buffering=True, write_through=True
    )
    try:
        yield text
    finally:
        text.detach()
