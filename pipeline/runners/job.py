"""Runs a job on the chosen runner, and returns its records or raises one error that says what failed."""

from __future__ import annotations

import time
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.errors import ConfigError, CrawlctlError, JobFailed
from crawlctl.pipeline.mrjob_light import light_imports
from crawlctl.pipeline.processes.cpu_time import TASK_COUNTERS, TASK_CPU
from crawlctl.pipeline.processes.scratch import scratch_folder
from crawlctl.pipeline.processes.signals import exit_on_signals
from crawlctl.pipeline.runners.job_failures import (
    SEE_TRACEBACK,
    TaskFailed,
    explained,
    last_traceback,
    named,
    one_line,
)
from crawlctl.pipeline.runners.job_result import Counters, JobResult
from crawlctl.pipeline.runners.mrjob_log import captured_mrjob_log
from crawlctl.pipeline.runners.switches import SIMULATED, conf_path, input_argument, runner_switches

with light_imports():
    from mrjob.step import StepFailedException

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.config.settings import RunnerSettings
    from crawlctl.pipeline.mrjob_light import MRJob
    from crawlctl.pipeline.runners.mrjob_log import MrjobLog

# Each extends a runner of mrjob, and is imported only when it is used.
RUNNERS = {
    "forked": "here.forked.ForkedRunner",
    "inline": "here.simulated.InlineRunner",
    "local": "here.programs.LocalRunner",
    "hadoop": "hadoop.runner.HadoopRunner",
    "emr": "emr.runner.EmrRunner",
    "spark": "spark.SparkRunner",
}
SEE_CLIENT = (
    "correct jobconf in the runner's conf file or ask the operator of the cluster; "
    "--verbose shows the whole output of the client"
)


def run_job(
    job_class: type[MRJob],
    inputs: Sequence[str | os.PathLike[str]],
    *,
    settings: RunnerSettings,
    args: Sequence[str] = (),
    workers: int | None = None,
) -> JobResult:
    """Run a job to its end and return what it wrote.

    A CrawlctlError of a task on the inline and forked runners is raised again here; its cause is a JobFailed
    with the traceback of the task. Every other failure raises JobFailed. Ctrl-C raises KeyboardInterrupt and
    SIGTERM SystemExit(143), both after all tasks have ended. Call it in the main thread, and not twice at the
    same time: signals and mrjob's log belong to the process.
    """
    if not inputs:
        raise ValueError(f"{job_class.__name__} has no input, and mrjob would wait for standard input")
    started = time.monotonic()
    with exit_on_signals(), captured_mrjob_log() as mrjob_log, scratch_folder(settings.tmp_dir) as scratch:
        switches = runner_switches(settings, workers, scratch)
        job = _make_job(job_class, [*switches, *args, *map(input_argument, inputs)])
        with _errors_explained(job, settings, mrjob_log), _make_runner(job, settings) as runner:
            try:
                runner.run()
            except (KeyboardInterrupt, SystemExit):
                if settings.name == "hadoop":
                    from crawlctl.pipeline.runners.hadoop.runner import kill_application

                    kill_application(runner, mrjob_log)
                raise
            output = tuple(_records(job, runner, settings))
            counters = Counters.total(runner.counters())
            # Tasks on this machine are children, and the system adds their CPU time to ours.
            cpu = 0.0 if settings.name in SIMULATED else counters.get(TASK_COUNTERS, TASK_CPU) / 1000
            return JobResult(output, counters, time.monotonic() - started, cpu)


def _make_job(job_class: type[MRJob], arguments: list[str]) -> MRJob:
    try:
        return job_class(arguments)
    except ValueError as err:  # mrjob's exception for wrong switches
        raise ConfigError(
            f"{job_class.__name__}: {err}; correct the options of the runner or the job"
        ) from err


def _make_runner(job: MRJob, settings: RunnerSettings) -> Any:
    module, _, name = RUNNERS[settings.name].rpartition(".")
    with light_imports():
        runner = getattr(import_module(f"crawlctl.pipeline.runners.{module}"), name)
    more = {"packages": settings.packages} if settings.name == "hadoop" else {}
    return runner(**more, **job._runner_kwargs())


def _records(job: MRJob, runner: Any, settings: RunnerSettings) -> Iterator[tuple[Any, Any]]:
    read = job.output_protocol().read
    for line in _lines(runner, settings):
        # Tasks strip the same from their input; mrjob's own parse_output leaves the newline to the protocol.
        yield read(line.rstrip(b"\r\n"))


def _lines(runner: Any, settings: RunnerSettings) -> Iterator[bytes]:
    from mrjob.util import to_lines

    if settings.name == "hadoop":
        yield from to_lines(runner.output())
        return
    folder = runner.get_output_dir().rstrip("/")  # on EMR it ends in a slash, which matters to S3
    for part in sorted(runner.fs.ls(f"{folder}/part-*")):
        yield from to_lines(runner.fs.cat(part))


@contextmanager
def _errors_explained(job: MRJob, settings: RunnerSettings, mrjob_log: MrjobLog) -> Iterator[None]:
    name = type(job).__name__
    try:
        yield
    except TaskFailed as err:
        failure = explained(err.report, name, len(job.steps()))
        if err.report.error is not None:
            raise err.report.error from failure
        raise failure from err
    except CrawlctlError:
        raise
    except StepFailedException as err:
        raise _step_failed(name, err, mrjob_log) from err
    except Exception as err:
        place = conf_path(settings) or "its options"
        said = one_line(mrjob_log.program_error) or named(err)
        raise JobFailed(
            f"{name} could not be run on the {settings.name} runner: {said}; "
            f"check the input and the runner's settings ({place})",
            "\n".join(mrjob_log.messages),
        ) from err


def _step_failed(name: str, err: Exception, mrjob_log: MrjobLog) -> JobFailed:
    if complaint := mrjob_log.complaint():
        from crawlctl.pipeline.runners.hadoop.failures import first_words

        return JobFailed(
            f"{name} was given up by Hadoop: {first_words(complaint)}; {SEE_CLIENT}",
            "\n".join(mrjob_log.messages),
        )
    cause = mrjob_log.probable_cause()
    trace = last_traceback(cause)
    reason = trace.splitlines()[-1] if trace else cause or str(err)
    return JobFailed(
        f"{name} failed: {one_line(reason)}; {SEE_TRACEBACK}",
        trace or cause or "\n".join(mrjob_log.messages),
    )
