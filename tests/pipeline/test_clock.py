from __future__ import annotations

import time

import pytest

from crawlctl.pipeline.clock import RunClock

DAY = 86_400.0


def test_a_clock_that_is_set_does_not_move_the_time_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, wall = RunClock(), time.time
    for jump in (-DAY, DAY):
        monkeypatch.setattr(time, "time", lambda jump=jump: wall() + jump)
        assert abs(clock.now() - wall()) < 5


def test_a_beginning_is_taken_from_the_wall_clock_unless_that_has_jumped() -> None:
    clock = RunClock()
    now = clock.now()
    assert clock.began(now - 3.0, 2.5) == now - 3.0
    assert abs(clock.began(now - DAY, 2.0) - (now - 2.0)) < 5


@pytest.mark.parametrize(("away", "most", "expected"), [(60, 3600, 60), (DAY, 3600, 3600), (-5, 3600, -5)])
def test_a_deadline_is_so_far_away_at_the_start_and_never_too_far(
    away: float, most: float, expected: float
) -> None:
    clock = RunClock()
    assert clock.deadline(clock.started + away, most) == pytest.approx(clock.started + expected)
