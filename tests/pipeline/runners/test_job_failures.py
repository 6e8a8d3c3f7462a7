from __future__ import annotations

import pickle
import signal
from subprocess import CalledProcessError
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CrawlctlError, StoreBusy
from crawlctl.pipeline.runners.job_failures import (
    CAUSE_LENGTH,
    Task,
    TaskFailed,
    died,
    exited,
    explained,
    last_traceback,
    named,
    raised,
)

if TYPE_CHECKING:
    from pathlib import Path

TASK = Task("reducer", 1, 7)
STDERR = """\
+ python job.py --reducer
Traceback (most recent call last):
  File "a.py", line 1, in <module>
KeyError: 'first'
reporter:counter:a,b,1
Traceback (most recent call last):
  File "b.py", line 2, in <module>
    fail()
ValueError: second
reporter:counter:a,b,1
"""


class Unreadable(CrawlctlError):
    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def test_a_report_with_its_error_crosses_a_pipe() -> None:
    failed = pickle.loads(pickle.dumps(TaskFailed(raised(TASK, StoreBusy("wait")))))
    assert failed.report.task == TASK
    assert isinstance(failed.report.error, StoreBusy) and str(failed.report.error) == "wait"


def test_only_our_own_errors_that_can_be_read_back_are_carried() -> None:
    assert raised(TASK, ValueError("x")).error is None
    assert raised(TASK, Unreadable("a", "b")).error is None
    assert "Unreadable: ab" in raised(TASK, Unreadable("a", "b")).cause


def test_the_message_counts_steps_as_people_do() -> None:
    told = str(explained(raised(TASK, ValueError("no\n  luck")), "Merge", 3))
    assert told.startswith("Merge failed: reducer 7 in step 2 of 3 raised ValueError: no luck; ")


def test_a_long_message_is_cut_and_an_empty_one_left_out() -> None:
    assert len(named(ValueError("x" * 10_000))) == CAUSE_LENGTH + len("ValueError: ")
    assert named(ValueError()) == "ValueError"


def test_the_last_traceback_is_found_among_the_noise() -> None:
    assert last_traceback(STDERR).splitlines() == [
        "Traceback (most recent call last):",
        '  File "b.py", line 2, in <module>',
        "    fail()",
        "ValueError: second",
    ]
    assert last_traceback("nothing\n") == ""


def test_signals_are_named_with_a_hint() -> None:
    hints = {
        signal.SIGKILL: "memory",
        signal.SIGSEGV: "native library",
        signal.SIGTERM: "run the command again",
    }
    for number, hint in hints.items():
        assert died(TASK, -number).cause == f"was killed by {number.name}"
        assert hint in died(TASK, -number).remedy


def failed_program(code: int) -> Exception:
    err = RuntimeError("mrjob's words")
    err.__context__ = CalledProcessError(code, ["sh"])
    return err


def test_a_program_is_judged_by_its_traceback_then_by_its_exit_code(tmp_path: Path) -> None:
    stderr = tmp_path / "stderr"
    stderr.write_text(STDERR)
    assert exited(TASK, failed_program(1), stderr).cause == "raised ValueError: second"
    stderr.write_bytes(b"\xff")
    assert exited(TASK, failed_program(128 + 9), stderr) == died(TASK, -9)
    assert exited(TASK, failed_program(3), stderr).cause == "left with exit code 3"
    assert exited(TASK, RuntimeError("other"), stderr).cause == "failed: other"
