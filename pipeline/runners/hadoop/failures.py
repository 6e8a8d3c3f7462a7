"""Finds out why a step failed on Hadoop: reads the stderr of the task, not the Java stack trace."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.runners.job_failures import (
    SEE_TRACEBACK,
    SHELL_SIGNAL,
    Task,
    TaskFailed,
    TaskReport,
    died,
    last_traceback,
    one_line,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LOGS_CLIENT = "org.apache.hadoop.yarn.client.cli.LogsCLI"
LOGS_SECONDS = 60  # the longest time of one call
LOGS_TRIES = 4  # seconds: nodes deliver the logs of an application some seconds after its end
LOGS_PAUSE = 5.0
MOST_LOGS = 64 << 20  # bytes

ATTEMPT = re.compile(r"attempt_\d+_\d+_([mr])_(\d+)_\d+")
EXIT_CODE = re.compile(r"subprocess failed with code (\d+)|[Ee]xit code is (\d+)|exitCode: (\d+)")
OVER_LIMIT = re.compile(r"beyond the '?(?:PHYSICAL|VIRTUAL)'? memory limit", re.IGNORECASE)
CONTAINER = re.compile(r"^Container: (container_\S+) on (\S+?)(?:_\d+)?$")
OWN_WORDS = "crawlctl: "  # the prefix of errors of bin/python in a packed environment
MEMORY = (
    "most likely it needed too much memory; raise mapreduce.{}.memory.mb in jobconf of the runner's conf "
    "file, or lower the memory budget in crawl.yaml"
)
SEE_LOGS = "look into its log, by `yarn logs -applicationId` or in the pages of the ResourceManager"


@dataclass(frozen=True)
class TaskLog:
    """The stderr of a task, and where it is stored."""

    container: str
    node: str
    text: str


def task_failure(
    step: int, interpretation: Mapping[str, Any], hadoop_bin: Sequence[str]
) -> TaskFailed | None:
    """Return the failure of the task that made a step fail, None if no task was started.

    `interpretation` is what mrjob read in the output of the client: the failed attempts and their errors.
    """
    errors = [
        error for error in interpretation.get("errors") or () if ATTEMPT.match(error.get("attempt_id") or "")
    ]
    if not errors:
        return None
    attempt = errors[-1]["attempt_id"]
    kind, number = ATTEMPT.match(attempt).groups()  # type: ignore[union-attr]  # they were chosen by it
    task = Task("mapper" if kind == "m" else "reducer", step, int(number))
    said = _without_stack(str((errors[-1].get("hadoop_error") or {}).get("message") or ""))
    application = str(interpretation.get("application_id") or "")
    log = telling_log(application, hadoop_bin) if application else None
    return TaskFailed(_report(task, said, log, f"{log.container} on {log.node}" if log else attempt))


def telling_log(application: str, hadoop_bin: Sequence[str]) -> TaskLog | None:
    """Return the stderr of the last container that has a traceback or a message of ours."""
    for tried in range(LOGS_TRIES):
        if tried:
            time.sleep(LOGS_PAUSE)
        logs = list(task_logs(_fetch_logs(application, hadoop_bin)))
        telling = [log for log in logs if last_traceback(log.text) or _own_words(log.text)]
        if telling:
            return max(telling, key=lambda log: log.container)
        if len(logs) > 1:  # with a single log, of the application master, the logs of the tasks may follow
            return None
    return None


def task_logs(text: str) -> Iterator[TaskLog]:
    """Split the output of the YARN client into the logs of the containers."""
    place = ("", "")
    lines: list[str] = []
    is_content = False
    for line in text.splitlines():
        if is_content and line.startswith("End of LogType:"):
            yield TaskLog(*place, "\n".join(lines))
            is_content = False
        elif is_content:
            lines.append(line)
        elif found := CONTAINER.match(line):
            place = found[1], found[2]
        elif line == "LogContents:":
            lines, is_content = [], True


def _fetch_logs(application: str, hadoop_bin: Sequence[str]) -> str:
    command = [*hadoop_bin, LOGS_CLIENT, "-applicationId", application, "-log_files", "stderr"]
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=LOGS_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout[-MOST_LOGS:].decode(errors="replace")


def _report(task: Task, said: str, log: TaskLog | None, place: str) -> TaskReport:
    trace = last_traceback(log.text) if log else ""
    if trace:
        return TaskReport(task, f"raised {one_line(trace.splitlines()[-1])} ({place})", SEE_TRACEBACK, trace)
    if log and (words := _own_words(log.text)):
        cause, _, remedy = words.partition("; ")
        return TaskReport(task, f"could not start: {cause}", remedy or SEE_TRACEBACK, log.text)
    found = EXIT_CODE.search(said)
    code = int(next(filter(None, found.groups()))) if found else None
    if OVER_LIMIT.search(said) or code == SHELL_SIGNAL + signal.SIGKILL:
        kind = "map" if task.kind == "mapper" else "reduce"
        return TaskReport(task, f"was killed ({place})", MEMORY.format(kind), said)
    if code is not None:
        cause = died(task, SHELL_SIGNAL - code if code > SHELL_SIGNAL else code).cause
        return TaskReport(task, f"{cause} ({place})", SEE_LOGS, said)
    return TaskReport(task, f"failed: {first_words(said)} ({place})", SEE_LOGS, said)


def first_words(said: str) -> str:
    """Return the first line of a Java error without its class names."""
    line = one_line(said.strip().partition("\n")[0])
    return re.sub(r"^(?:Error: )?(?:[a-z]\w*\.)+[A-Z][\w$]*(?:Exception|Error)?: ", "", line)


def _without_stack(said: str) -> str:
    return "\n".join(line for line in said.splitlines() if not line.startswith("\tat "))


def _own_words(text: str) -> str:
    found = [line for line in text.splitlines() if line.startswith(OWN_WORDS)]
    return found[-1].removeprefix(OWN_WORDS) if found else ""
