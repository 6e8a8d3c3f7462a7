"""Timesheets: all that a process spends between two commits is somewhere in them."""

from __future__ import annotations

import pytest

from crawlctl.pipeline.crawl.history.history_row import StepCost
from crawlctl.pipeline.crawl.history.timesheet import OTHER, Timesheet
from crawlctl.pipeline.crawl.work import TaskCpu


class Clocks:
    """The two clocks of a timesheet, which a test moves on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = self.cpu = 100.0
        module = "crawlctl.pipeline.crawl.history.timesheet"
        monkeypatch.setattr(f"{module}.time.monotonic", lambda: self.seconds)
        monkeypatch.setattr(f"{module}.cpu_seconds", lambda: self.cpu)

    def spend(self, seconds: float, cpu: float) -> None:
        self.seconds += seconds
        self.cpu += cpu


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


def test_steps_and_the_rest_add_up_to_all_that_was_spent(clocks: Clocks) -> None:
    tasks = TaskCpu()
    sheet = Timesheet(tasks)
    clocks.spend(1, 0.5)
    for _ in range(2):
        with sheet.step("fetch"):
            clocks.spend(10, 2)
            tasks.seconds += 30  # of tasks on other machines
    with sheet.step("rank"), sheet.step("graph"):
        clocks.spend(4, 1)
    assert sheet.cost_of("fetch") == StepCost(20, 64)
    assert sheet.close() == {"fetch": StepCost(20, 64), "rank": StepCost(4, 1), OTHER: StepCost(1, 0.5)}
    clocks.spend(2, 1)
    assert sheet.close() == {OTHER: StepCost(2, 1)}


def test_a_step_that_fails_has_its_cost_too(clocks: Clocks) -> None:
    sheet = Timesheet(TaskCpu())
    with pytest.raises(KeyboardInterrupt), sheet.step("fetch"):
        clocks.spend(3, 1)
        raise KeyboardInterrupt
    assert sheet.cost_of("fetch") == StepCost(3, 1)
    with sheet.step("index"):
        clocks.spend(1, 1)
    assert sheet.cost_of("index") == StepCost(1, 1)
