from __future__ import annotations

import os
import subprocess
import sys

import msgspec
import pytest

from crawlctl.pipeline.processes import process_mark as processes
from crawlctl.pipeline.processes.process_mark import ProcessMark, has_ended, machine, this_process

SLEEPER = [sys.executable, "-c", "print(flush=True); input()"]


def mark_of(pid: int) -> ProcessMark:
    return msgspec.structs.replace(this_process(), pid=pid, started=processes._look(pid)[1])


def test_this_process_runs() -> None:
    mark = this_process()
    assert mark.pid == os.getpid()
    assert mark.machine
    assert mark.started
    assert not has_ended(mark)


def test_a_process_has_ended_when_it_is_killed_even_before_its_parent_knows() -> None:
    with subprocess.Popen(SLEEPER, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        mark = mark_of(child.pid)
        assert not has_ended(mark)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # a zombie now
        assert has_ended(mark)
        child.wait()
        assert has_ended(mark)


def test_a_pid_that_is_used_again_is_another_process() -> None:
    assert has_ended(msgspec.structs.replace(this_process(), started="1"))


def test_a_process_whose_start_is_unknown_is_taken_to_run() -> None:
    assert not has_ended(msgspec.structs.replace(this_process(), started=""))


@pytest.mark.parametrize("field", ["host", "machine"])
def test_of_another_machine_nothing_is_known(field: str) -> None:
    elsewhere = msgspec.structs.replace(this_process(), pid=2**22 + 1, **{field: "elsewhere"})
    assert not has_ended(elsewhere)
    assert has_ended(msgspec.structs.replace(this_process(), pid=2**22 + 1))


def test_a_machine_without_a_mark_knows_no_dead() -> None:
    assert not has_ended(msgspec.structs.replace(this_process(), pid=2**22 + 1, machine=""))


def test_a_process_of_another_user_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int, _signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert not has_ended(this_process())


def test_without_proc_the_same_is_asked_of_ps(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"/bin/ps": "S    Mon Nov 16 03:00:00 2026\n", "/usr/sbin/sysctl": "0FF1CE\n"}

    class Refusing(type(processes.Path())):  # type: ignore[misc]
        def read_text(self, *_: object, **__: object) -> str:
            raise FileNotFoundError

    monkeypatch.setattr(processes, "Path", Refusing)
    monkeypatch.setattr(processes, "_BOOT_ID", Refusing("boot_id"))
    monkeypatch.setattr(processes, "_ask", lambda *command: asked[command[0]].strip())
    machine.cache_clear()
    try:
        assert machine() == "0FF1CE"
        assert processes._look(1) == ("S", "Mon Nov 16 03:00:00 2026")
        mark = this_process()
        assert not has_ended(mark)
        asked["/bin/ps"] = "S    Tue Nov 17 03:00:00 2026\n"
        assert has_ended(mark)
    finally:
        machine.cache_clear()


def test_a_program_that_is_not_there_tells_nothing() -> None:
    assert processes._ask("/no/such/program") == ""
