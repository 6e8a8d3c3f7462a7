"""From what Hadoop's clients print to what the user reads; the texts are those of Hadoop 3.4.2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.runners.hadoop import failures as hadoop_failures
from crawlctl.pipeline.runners.hadoop.failures import first_words, task_failure, task_logs

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.runners.job_failures import TaskReport

PIPE = "Error: java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code {}\n{}"
STACK = "\tat org.apache.hadoop.streaming.PipeMapRed.waitOutputThreads(PipeMapRed.java:326)\n"
TRACE = "Traceback (most recent call last):\n  File\n{}\n"
BEYOND = (
    "[2026-11-16 10:04:10.883]Container [pid=1,containerID=container_1_0011_01_000003] is running 1B beyond "
    "the 'PHYSICAL' memory limit. Current usage: 1.6 GB of 1.5 GB physical memory used. Killing container."
)


def container(number: int, content: str, node: str = "node-1_8041") -> str:
    return (
        f"Container: container_1_0011_01_{number:06d} on {node}\nLogAggregationType: AGGREGATED\n"
        "=====\nLogType:stderr\nLogLastModifiedTime:Mon Nov 16 10:04:27 +0000 2026\n"
        f"LogLength:{len(content)}\nLogContents:\n{content}\nEnd of LogType:stderr\n*****\n\n"
    )


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hadoop_failures, "LOGS_PAUSE", 0)


def report(tmp_path: Path, error: str, logs: str, attempt: str = "attempt_1_0011_m_000001_1") -> TaskReport:
    (tmp_path / "logs").write_text(logs)
    client = tmp_path / "hadoop"
    client.write_text(f"#!/bin/sh\necho call >> {tmp_path}/calls\ncat {tmp_path}/logs\n")
    client.chmod(0o755)
    told = {
        "application_id": "application_1_0011",
        "errors": [{"attempt_id": attempt, "hadoop_error": {"message": error}}],
    }
    failure = task_failure(2, told, [str(client)])
    assert failure is not None
    return failure.report


def test_the_last_container_with_a_traceback_is_the_one(tmp_path: Path) -> None:
    logs = (
        container(1, "the master")
        + container(5, TRACE.format("ValueError: last"), "node-2_8041")
        + container(3, TRACE.format("OSError: of an attempt that was tried again"))
        + container(6, "another task, killed when the job failed")
    )
    told = report(tmp_path, PIPE.format(1, STACK), logs)
    assert (told.task.kind, told.task.step, told.task.number) == ("mapper", 2, 1)
    assert told.cause == "raised ValueError: last (container_1_0011_01_000005 on node-2)"
    assert told.traceback == TRACE.format("ValueError: last")


def test_a_reducer_is_told_from_a_mapper(tmp_path: Path) -> None:
    told = report(tmp_path, PIPE.format(1, ""), container(2, "") * 2, "attempt_1_0011_r_000017_0")
    assert (told.task.kind, told.task.number) == ("reducer", 17)


@pytest.mark.parametrize("error", [PIPE.format(137, STACK), BEYOND])
def test_a_task_that_was_killed_most_likely_wanted_memory(tmp_path: Path, error: str) -> None:
    told = report(tmp_path, error, container(2, "") * 2)
    assert told.cause == "was killed (attempt_1_0011_m_000001_1)"
    assert "raise mapreduce.map.memory.mb" in told.remedy
    assert "\tat " not in told.traceback


def test_a_node_without_python_is_told_in_its_own_words(tmp_path: Path) -> None:
    words = "crawlctl: node-1 has no python3.11; install it there\n"
    told = report(tmp_path, PIPE.format(78, STACK), container(2, words))
    assert (told.cause, told.remedy) == ("could not start: node-1 has no python3.11", "install it there")


def test_another_exit_code_is_told_with_the_way_to_the_log(tmp_path: Path) -> None:
    told = report(tmp_path, PIPE.format(3, STACK), container(2, "") * 2)
    assert told.cause == "left with exit code 3 (attempt_1_0011_m_000001_1)"
    assert "yarn logs -applicationId" in told.remedy
    told = report(tmp_path, PIPE.format(139, STACK), container(2, "") * 2)
    assert told.cause.startswith("was killed by SIGSEGV")


def test_an_error_of_hadoop_itself_is_told_without_its_stack(tmp_path: Path) -> None:
    error = "Error: java.io.IOException: Type mismatch in key from map\n" + STACK
    told = report(tmp_path, error, container(2, "") * 2)
    assert told.cause == "failed: Type mismatch in key from map (attempt_1_0011_m_000001_1)"


def test_logs_are_awaited_until_the_nodes_have_handed_them_in(tmp_path: Path) -> None:
    report(tmp_path, PIPE.format(1, ""), "")
    assert (tmp_path / "calls").read_text().count("call") == hadoop_failures.LOGS_TRIES


def test_a_client_that_cannot_be_started_costs_only_the_traceback() -> None:
    told: dict[str, Any] = {
        "application_id": "application_1_0011",
        "errors": [
            {"attempt_id": "attempt_1_0011_m_000001_1", "hadoop_error": {"message": PIPE.format(1, "")}}
        ],
    }
    failure = task_failure(0, told, ["/nowhere/hadoop"])
    assert failure is not None and failure.report.cause.startswith("left with exit code 1")


def test_a_job_that_never_came_to_tasks_has_no_failed_one() -> None:
    assert task_failure(0, {"output_dir": "hdfs:///x"}, ["hadoop"]) is None
    assert task_failure(0, {"errors": [{"hadoop_error": {"message": "Not a valid JAR"}}]}, ["hadoop"]) is None


def test_a_log_may_look_like_its_own_frame() -> None:
    (log,) = task_logs(container(2, "LogContents:\nLogType:stderr\nText"))
    assert log.text == "LogContents:\nLogType:stderr\nText"


def test_classes_of_java_are_not_for_people() -> None:
    assert first_words("org.apache.hadoop.yarn.exceptions.YarnException: Failed to\n\tat x") == "Failed to"
    assert first_words("plain words: with a colon") == "plain words: with a colon"
