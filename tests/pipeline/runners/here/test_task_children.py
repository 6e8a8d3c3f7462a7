from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.runners.here.task_children import ChildDied, run_in_children

DRIVER = """
import os, subprocess, sys, time
from pathlib import Path
from crawlctl.pipeline.runners.here.task_children import run_in_children

def sleep(name):
    program = subprocess.Popen(["sleep", "600"])  # it knows nothing of the lifeline
    half = Path(sys.argv[1], "half-" + name)
    half.write_text(f"{os.getpid()} {program.pid}")
    half.rename(Path(sys.argv[1], name))
    time.sleep(600)

run_in_children([lambda name=name: sleep(name) for name in "abc"], limit=3)
"""


def test_every_function_runs_in_a_process_group_of_its_own(tmp_path: Path) -> None:
    def note(name: str) -> None:
        (tmp_path / name).write_text(f"{os.getpid()} {os.getpgrp()} {os.getppid()}")

    run_in_children([lambda name=name: note(name) for name in "abcde"], limit=2)  # type: ignore[misc]
    notes = [tuple(map(int, path.read_text().split())) for path in sorted(tmp_path.iterdir())]
    assert len({pid for pid, _, _ in notes}) == 5
    assert all(pid == group and parent == os.getpid() for pid, group, parent in notes)


def test_no_more_than_the_limit_run_at_once_and_that_many_do(tmp_path: Path, watch: Any) -> None:
    def work() -> None:
        mark = tmp_path / str(os.getpid())
        mark.touch()
        watch.until(lambda: len(list(tmp_path.glob("[0-9]*"))) >= 2 or (tmp_path / "met").exists())
        (tmp_path / "met").touch()
        if len(list(tmp_path.glob("[0-9]*"))) > 2:
            raise AssertionError("three at once")
        time.sleep(0.05)
        mark.unlink()

    run_in_children([work] * 6, limit=2)
    assert (tmp_path / "met").exists()


def test_nothing_to_do_is_done_at_once() -> None:
    run_in_children([], limit=1)


def test_what_a_function_raises_is_raised_here_and_ends_the_others(tmp_path: Path, watch: Any) -> None:
    def wait_for_death() -> None:
        (tmp_path / "pid").write_text(str(os.getpid()))
        time.sleep(600)

    def fail() -> None:
        watch.until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        raise CorruptFile("part", 3, "too short")

    with pytest.raises(CorruptFile) as caught:
        run_in_children([wait_for_death, fail], limit=2)
    assert (caught.value.name, caught.value.offset) == ("part", 3)
    assert not watch.is_alive(int((tmp_path / "pid").read_text()))


def test_a_long_report_does_not_block_its_writer() -> None:
    def fail() -> None:
        raise ValueError("x" * 1_000_000)

    with pytest.raises(ValueError, match=r"x{1000}"):
        run_in_children([fail], limit=1)


def test_what_cannot_be_pickled_arrives_as_text() -> None:
    def fail() -> None:
        class Homemade(Exception):
            pass

        raise Homemade("of no use elsewhere")

    with pytest.raises(RuntimeError, match="Homemade: of no use elsewhere"):
        run_in_children([fail], limit=1)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGUSR1, signal.SIGTERM])
def test_a_killed_child_is_told_by_its_number_and_signal(number: signal.Signals) -> None:
    with pytest.raises(ChildDied) as caught:
        run_in_children([lambda: None, lambda: os.kill(os.getpid(), number)], limit=2)
    assert (caught.value.number, caught.value.exit_code) == (1, -number)


def tries_of(folder: Path, name: str) -> list[int]:
    """Note another try of a function and return how many others ran beside each of its tries."""
    beside = len(list(folder.glob("running-*")))
    with (folder / name).open("a") as note:
        note.write(f"{beside}\n")
    return [int(line) for line in (folder / name).read_text().split()]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGBUS])
@pytest.mark.parametrize("deaths", [1, 2])
def test_a_function_whose_process_is_killed_is_tried_again(
    tmp_path: Path, number: signal.Signals, deaths: int
) -> None:
    def work() -> None:
        if len(tries_of(tmp_path, "tries")) <= deaths:
            faulthandler.disable()
            os.kill(os.getpid(), number)
        (tmp_path / "done").touch()

    run_in_children([work, lambda: None], limit=2)
    assert (tmp_path / "done").exists() and len(tries_of(tmp_path, "tries")) == deaths + 2


def test_after_three_kills_it_is_given_up(tmp_path: Path) -> None:
    def work() -> None:
        tries_of(tmp_path, "tries")
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(ChildDied):
        run_in_children([work], limit=1)
    assert len(tries_of(tmp_path, "tries")) == 3 + 1


@pytest.mark.slow
def test_the_last_try_has_no_other_function_beside_it(tmp_path: Path) -> None:
    def doomed() -> None:
        if len(tries_of(tmp_path, "tries")) < 3:
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.2)
        tries_of(tmp_path, "tries")

    def busy() -> None:
        mark = tmp_path / f"running-{os.getpid()}"
        mark.touch()
        time.sleep(0.05)
        mark.unlink()

    run_in_children([doomed, *[busy] * 12], limit=3)
    assert tries_of(tmp_path, "tries")[2:4] == [0, 0]


def test_a_function_that_raises_or_is_asked_to_stop_is_not_tried_again(tmp_path: Path) -> None:
    def fail() -> None:
        tries_of(tmp_path, "failing")
        raise ValueError("no")

    def stop() -> None:
        tries_of(tmp_path, "stopped")
        os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(ValueError, match="no"):
        run_in_children([fail], limit=1)
    with pytest.raises(ChildDied):
        run_in_children([stop], limit=1)
    assert len(tries_of(tmp_path, "failing")) == len(tries_of(tmp_path, "stopped")) == 1 + 1


def test_the_traceback_of_a_child_comes_along() -> None:
    def somewhere_deep() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no") as caught:
        run_in_children([somewhere_deep], limit=1)
    assert "in somewhere_deep" in str(caught.value.__cause__)


@pytest.mark.slow
def test_a_child_that_is_killed_takes_its_own_processes_along(tmp_path: Path, watch: Any) -> None:
    def fork_and_die() -> None:
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside the lifeline's thread
        pid = os.fork()  # this one keeps the report pipe open
        if pid == 0:
            time.sleep(600)
        (tmp_path / "pid").write_text(str(pid))
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(ChildDied):
        run_in_children([fork_and_die], limit=1)
    watch.until(lambda: not watch.is_alive(int((tmp_path / "pid").read_text())))


def test_a_child_runs_none_of_the_drivers_clean_up(tmp_path: Path) -> None:
    buffered = (tmp_path / "log").open("w")
    buffered.write("once\n")
    try:
        run_in_children([lambda: None, lambda: None], limit=2)
    finally:
        with (tmp_path / "finally").open("a") as note:
            note.write("once\n")
    buffered.close()
    assert (tmp_path / "finally").read_text() == (tmp_path / "log").read_text() == "once\n"


def test_other_threads_of_the_driver_do_no_harm(tmp_path: Path) -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        run_in_children([(tmp_path / "done").touch], limit=1)
    finally:
        stop.set()
        thread.join()
    assert (tmp_path / "done").exists()


@pytest.mark.slow
def test_open_files_do_not_pile_up() -> None:
    descriptors = Path("/dev/fd")
    before = len(list(descriptors.iterdir()))
    for _ in range(3):
        run_in_children([lambda: None] * 4, limit=2)
        with pytest.raises(ChildDied):
            run_in_children([lambda: os._exit(1)] * 3, limit=3)
    assert len(list(descriptors.iterdir())) == before


def test_the_children_of_a_killed_driver_end_by_themselves(tmp_path: Path, watch: Any) -> None:
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path)])
    try:
        watch.until(lambda: len(list(tmp_path.glob("[abc]"))) == 3)
        pids = [int(pid) for path in tmp_path.glob("[abc]") for pid in path.read_text().split()]
        assert len(pids) == 6 and all(map(watch.is_alive, pids))
    finally:
        driver.kill()
        driver.wait()
    try:
        watch.until(lambda: not any(map(watch.is_alive, pids)), seconds=5)
    finally:
        for pid in filter(watch.is_alive, pids):
            os.kill(pid, signal.SIGKILL)
