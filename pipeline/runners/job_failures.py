"""Explains in one line why a job failed, and keeps the traceback of the task that failed."""

from __future__ import annotations

import pickle
import re
import signal
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CrawlctlError, JobFailed
from crawlctl.pipeline.processes.children import signal_name

if TYPE_CHECKING:
    from pathlib import Path

TRACEBACK_START = "Traceback (most recent call last):"
MRJOB_SOURCE = "\n(from line"  # mrjob adds this to what it finds in a log: "(from lines 3-9 of …)"
CAUSE_LENGTH = 300
SHELL_SIGNAL = 128  # the exit code of a shell is this plus the signal that killed its program
SEE_TRACEBACK = "see its traceback with --verbose, fix the cause and run the command again"
OUT_OF_MEMORY = (
    "most likely it needed too much memory; run again with fewer workers or a smaller memory budget"
)
OUT_OF_MEMORY_ALONE = (
    "most likely it needed too much memory; close other programs, or run again with a smaller memory budget "
    "(round.task_memory, index.memory)"
)
STOPPED = "someone or something on this machine stopped it; run the command again"
NATIVE_CRASH = "most likely a fault in a native library; run again with the inline runner to find the record"
SIGNAL_REMEDIES: dict[int, str] = {
    signal.SIGKILL: OUT_OF_MEMORY,
    signal.SIGINT: STOPPED,
    signal.SIGTERM: STOPPED,
    signal.SIGHUP: STOPPED,
}


@dataclass(frozen=True)
class Task:
    """One task of a job; steps and tasks count from 0, as in mrjob."""

    kind: str  # mapper, combiner or reducer
    step: int
    number: int


@dataclass(frozen=True)
class TaskReport:
    """All that is known about a failed task; plain values, so that it can be sent through a pipe."""

    task: Task
    cause: str
    remedy: str
    traceback: str = ""
    error: CrawlctlError | None = None  # an error of ours that can be raised again in the driver


class TaskFailed(Exception):
    """A task of a job failed; only run_job catches it."""

    def __init__(self, report: TaskReport) -> None:
        super().__init__(report)
        self.report = report


def raised(task: Task, err: BaseException) -> TaskReport:
    """Report an exception of a task that ran in a process of ours."""
    text = "".join(traceback.format_exception(err))
    return TaskReport(task, f"raised {named(err)}", SEE_TRACEBACK, text, _portable(err))


def exited(task: Task, err: BaseException, stderr: Path) -> TaskReport:
    """Report a task that ran as a program; its traceback is at the end of its stderr."""
    text = last_traceback(stderr.read_text(errors="replace"))
    if text:
        return TaskReport(task, f"raised {one_line(text.splitlines()[-1])}", SEE_TRACEBACK, text)
    code = getattr(err.__context__, "returncode", None)  # of a CalledProcessError
    if code is not None:
        return died(task, SHELL_SIGNAL - code if code > SHELL_SIGNAL else code)
    return TaskReport(task, f"failed: {one_line(str(err))}", SEE_TRACEBACK)


def died(task: Task, exit_code: int, tries: int = 1) -> TaskReport:
    """Report a task whose process was killed in each of `tries` tries, the last time alone."""
    if exit_code >= 0:
        return TaskReport(task, f"left with exit code {exit_code}", NATIVE_CRASH)
    remedy = SIGNAL_REMEDIES.get(-exit_code, NATIVE_CRASH)
    if tries > 1 and remedy is OUT_OF_MEMORY:
        remedy = OUT_OF_MEMORY_ALONE
    often = f" in each of {tries} tries" if tries > 1 else ""
    return TaskReport(task, f"was killed by {signal_name(-exit_code)}{often}", remedy)


def explained(report: TaskReport, job: str, steps: int) -> JobFailed:
    """Return the error that explains a failed task to the user."""
    task = report.task
    place = f"{task.kind} {task.number} in step {task.step + 1} of {steps}"
    return JobFailed(f"{job} failed: {place} {report.cause}; {report.remedy}", report.traceback)


def last_traceback(text: str) -> str:
    """Return the last Python traceback of a log and the text after it, empty if there is none."""
    start = text.rfind(TRACEBACK_START)
    if start < 0:
        return ""
    shown, _, _ = text[start:].partition(MRJOB_SOURCE)
    # The shell that starts a task on the local and Hadoop runners traces its commands with "+ ".
    kept = [line for line in shown.splitlines() if not line.startswith(("+ ", "reporter:"))]
    return "\n".join(kept).rstrip() + "\n"


def named(err: BaseException) -> str:
    """Return the type and message of an exception in one line."""
    message = one_line(str(err))
    return f"{type(err).__name__}: {message}" if message else type(err).__name__


def one_line(text: str) -> str:
    """Return the text on one line, shortened if it is long."""
    folded = re.sub(r"\s+", " ", text).strip()
    return folded if len(folded) <= CAUSE_LENGTH else folded[: CAUSE_LENGTH - 1] + "…"


def _portable(err: BaseException) -> CrawlctlError | None:
    if not isinstance(err, CrawlctlError):
        return None
    try:
        copy = pickle.loads(pickle.dumps(err))  # noqa: S301 - our own bytes, to see whether they can be read
    except Exception:
        return None
    return copy if isinstance(copy, CrawlctlError) else None
