from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.progress.figures import (
    Meter,
    counted_unit,
    duration,
    ended_parts,
    host_line,
    status_line,
)
from crawlctl.pipeline.progress.task_file import HostProgress, Progress
from crawlctl.pipeline.terminal.width import columns


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_rates_are_of_the_last_seconds_and_what_was_adopted_is_no_speed() -> None:
    clock = Clock()
    meter = Meter(1000, clock=clock)
    meter.measure(Progress(done=500, bytes=0))
    clock.now = 10
    figures = meter.measure(
        Progress(done=600, bytes=20_000_000, errors=2, asking=4, waiting=3, failing=1, seconds=5)
    )
    assert (figures.per_second, figures.bytes_per_second, figures.eta) == (10, 2e6, 40)
    assert str(figures) == "ETA 0:00:40, 10.0/s, 2 errors, hosts: 4 asked, 3 waiting, 1 failing, 2.0 MB/s"
    for second in range(11, 60):
        clock.now = second
        figures = meter.measure(Progress(done=600))
    assert (figures.per_second, figures.eta) == (0, None)


def test_a_task_that_comes_late_with_the_pages_of_an_earlier_attempt_is_not_fast() -> None:
    clock = Clock()
    meter = Meter(1000, clock=clock)
    meter.measure(Progress(done=100, earlier=100))
    clock.now = 10
    assert meter.measure(Progress(done=620, earlier=600)).per_second == 2


def eta(progress: Progress, deadline: float | None = None) -> float | None:
    """The remaining seconds at time 10, after 100 pages in 10 seconds."""
    clock = Clock()
    meter = Meter(1000, deadline, clock=clock, wall_clock=clock)
    meter.measure(Progress())
    clock.now = 10
    return meter.measure(progress).eta


def test_the_end_is_that_of_the_slowest_host_or_of_the_time_of_the_round() -> None:
    assert eta(Progress(done=100)) == 90
    assert eta(Progress(done=100, seconds=300)) == 300
    assert eta(Progress(done=100, seconds=300), deadline=70) == 60
    assert eta(Progress(done=100), deadline=5) == 0
    assert eta(Progress(done=0, seconds=300)) == 300
    assert eta(Progress(done=1000, seconds=300)) is None


def test_one_is_no_plural() -> None:
    assert [counted_unit(number, "pages") for number in (0, 1, 2)] == ["0 pages", "1 page", "2 pages"]
    clock = Clock()
    figures = Meter(9, clock=clock).measure(Progress(errors=1, waiting=1))
    assert str(figures) == "0.0/s, 1 error, host: 1 waiting"


PARTS = ["ETA 0:00:40", "10.0/s", "12 errors", "hosts: 4 asked, 3 waiting", "2.0 MB/s"]


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 120))
def test_the_count_is_never_cut(done: int, total: int, room: int) -> None:
    line = status_line("round 12, fetch", done, total, "pages", PARTS, room=room)
    assert f"{done:,}/{total:,}" in line
    assert columns(line) <= max(room, len(f"{done:,}/{total:,}"))


def test_a_wider_line_has_more_figures() -> None:
    lines = [
        status_line("round 2, fetch", 231, 1000, "pages", PARTS, room=room) for room in (12, 40, 60, 120)
    ]
    assert lines == [
        "231/1,000",
        "round 2, fetch 231/1,000 pages, 10.0/s",
        "round 2, fetch 231/1,000 pages, ETA 0:00:40, 10.0/s",
        "round 2, fetch 231/1,000 pages, ETA 0:00:40, 10.0/s, 12 errors, hosts: 4 asked, 3 waiting, 2.0 MB/s",
    ]


@pytest.mark.parametrize(
    ("host", "line"),
    [
        (HostProgress("a.example", 31, 2), "  a.example  31 URLs left, asked"),
        (HostProgress("a.example", 1, 0, 112.0), "  a.example  1 URL left, waits 12 s"),
        (HostProgress("a.example", 5), "  a.example  5 URLs left, ready"),
        (HostProgress("a.example", 0, 1, 0.0, "503"), "  a.example  fails (503), asked again"),
        (
            HostProgress("a.example", 2, 0, 250.0, "503"),
            "  a.example  2 URLs left, fails (503), waits 0:02:30",
        ),
    ],
)
def test_the_state_of_a_host_is_told_in_words(host: HostProgress, line: str) -> None:
    assert host_line(host, 80, 100.0) == line


def test_the_details_of_a_failure_are_cut_before_the_name_of_its_host() -> None:
    host = HostProgress("127.0.0.1:8400", 6, 0, 111.0, "timeout: no answer within the time that is allowed")
    assert host_line(host, 79, 100.0) == "  127.0.0.1:8400  6 URLs left, fails (timeout), waits 11 s"
    assert "no answer within the time that is allowed" in host_line(host, 120, 100.0)


def test_a_step_that_has_ended_has_its_duration_and_its_errors() -> None:
    assert ended_parts(Progress(4, errors=2, waiting=1), 0.42) == ["in 0.4 s", "2 errors"]


@pytest.mark.parametrize("room", [39, 79])
@pytest.mark.parametrize("name", ["a" * 200 + ".example", "例え" * 60 + ".example", "a.example"])
def test_a_line_of_a_host_fits(name: str, room: int) -> None:
    line = host_line(HostProgress(name, 123_456, 0, 1e9, "no answer within a minute"), room, 0.0)
    assert columns(line) <= room
    assert line.startswith(f"  {name[:3]}")


def test_spans_are_shown_as_clocks() -> None:
    assert [duration(seconds) for seconds in (0, 59.6, 3600, 90_061)] == [
        "0:00:00",
        "0:01:00",
        "1:00:00",
        "25:01:01",
    ]
