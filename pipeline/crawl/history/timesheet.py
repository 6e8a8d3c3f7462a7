"""Timesheet: the costs of a command's steps between two commits, in seconds and CPU-seconds."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.history.history_row import StepCost
from crawlctl.pipeline.processes.cpu_time import cpu_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.crawl.work import TaskCpu

OTHER = "other"  # the time between steps: planning, the commit before, waiting for hosts


class Timesheet:
    """Measures the steps of one process; CPU time includes its children and its tasks on other machines.

    `owner` names the process in the journal of a round, so that its own costs are not counted twice.
    """

    def __init__(self, tasks: TaskCpu) -> None:
        self.owner = os.urandom(8).hex()
        self._tasks = tasks
        self._steps: defaultdict[str, StepCost] = defaultdict(StepCost)
        self._since = self._now()
        self._is_measuring = False

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure a step, also if it ends with an exception; a nested step is a part of the outer step."""
        if self._is_measuring:
            yield
            return
        before, self._is_measuring = self._now(), True
        try:
            yield
        finally:
            self._is_measuring = False
            self._steps[name] += _between(before, self._now())

    def cost_of(self, name: str) -> StepCost:
        """Return what a step has cost since the last commit."""
        return self._steps.get(name, StepCost())

    def close(self) -> dict[str, StepCost]:
        """Return the costs since the last call; time outside of steps counts as "other"."""
        steps, now = dict(self._steps), self._now()
        spent, known = _between(self._since, now), sum(steps.values(), StepCost())
        steps[OTHER] = StepCost(max(0.0, spent.seconds - known.seconds), max(0.0, spent.cpu - known.cpu))
        self._steps.clear()
        self._since = now
        return steps

    def _now(self) -> StepCost:
        return StepCost(time.monotonic(), cpu_seconds() + self._tasks.seconds)


def _between(before: StepCost, after: StepCost) -> StepCost:
    return StepCost(after.seconds - before.seconds, after.cpu - before.cpu)
