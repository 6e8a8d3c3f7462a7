"""Real drivers, real signals: whatever ends the driver, no process of its job may be left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.processes.signals import exit_on_signals
from crawlctl.pipeline.runners.job import run_job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TASKS = 3
JOBS = Path(__file__).parents[1] / "runners" / "jobs"
DRIVER = """
import sys
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.config.settings import RunnerSettings
jobs, runner, lines, scratch = sys.argv[1:]
sys.path.insert(0, jobs)
from sleeping import Sleeping
run_job(Sleeping, [lines], settings=RunnerSettings(name=runner, workers=3, tmp_dir=scratch))
"""


class Driver:
    """A driver whose job is asleep in all its tasks."""

    def __init__(self, runner: str, folder: Path, scratch: Path, watch: Any) -> None:
        lines = folder / "lines.txt"
        tasks = folder / "tasks"
        tasks.mkdir()
        lines.write_text(f"{tasks}\n" * TASKS)
        command = [sys.executable, "-c", DRIVER, str(JOBS), runner, str(lines), str(scratch)]
        self.process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        watch.until(lambda: len(list(tasks.glob("[0-9]*"))) == TASKS)
        self.watch = watch
        self.tasks = [int(pid) for path in tasks.glob("[0-9]*") for pid in path.read_text().split()]

    def processes(self) -> set[int]:
        """The tasks, the programs they have started, and all that stands between them and the driver."""
        found = set(self.tasks)
        for pid in self.tasks:
            while (pid := self.watch.parent(pid)) not in (0, 1, self.process.pid):
                found.add(pid)
        return found


@pytest.fixture(params=["forked", "local"])
def driver(request: pytest.FixtureRequest, tmp_path: Path, scratch: Path, watch: Any) -> Iterator[Driver]:
    started = Driver(request.param, tmp_path, scratch, watch)
    yield started
    for pid in [started.process.pid, *started.tasks]:
        if watch.is_alive(pid):
            os.kill(pid, signal.SIGKILL)
    started.process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("whole_group", [False, True], ids=["driver only", "whole group"])
@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_driver_and_every_task(
    driver: Driver, number: signal.Signals, exit_code: int, whole_group: bool, scratch: Path
) -> None:
    processes = driver.processes()
    assert len(processes) >= 2 * TASKS and all(map(driver.watch.is_alive, processes))
    (os.killpg if whole_group else os.kill)(driver.process.pid, number)
    assert driver.process.wait(timeout=20) == exit_code
    assert [pid for pid in processes if driver.watch.is_alive(pid)] == []
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
def test_the_tasks_of_a_killed_driver_end_by_themselves(driver: Driver) -> None:
    processes = driver.processes()
    os.kill(driver.process.pid, signal.SIGKILL)
    driver.process.wait()
    driver.watch.until(lambda: not any(map(driver.watch.is_alive, processes)), seconds=5)


def test_a_termination_becomes_an_exit_with_its_usual_code() -> None:
    with pytest.raises(SystemExit) as caught, exit_on_signals():
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_termination_inside_an_inline_task_is_no_failure_of_the_task(
    job: Callable[[str], Any], tmp_path: Path, scratch: Path
) -> None:
    (tmp_path / "lines").write_text("bad\n")
    settings = RunnerSettings(name="inline", tmp_dir=str(scratch))
    with pytest.raises(SystemExit) as caught:
        run_job(job("failing.Failing"), [tmp_path / "lines"], settings=settings, args=["--how", "terminate"])
    assert caught.value.code == 128 + signal.SIGTERM
    assert list(scratch.iterdir()) == []


def test_handlers_of_the_caller_are_left_alone() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    try:
        with exit_on_signals():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == [signal.SIGTERM]


def test_in_another_thread_signals_are_not_touched() -> None:
    handlers: list[object] = []

    def look() -> None:
        with exit_on_signals():
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert handlers == [signal.SIG_DFL]
