from __future__ import annotations

import io
import os
import pty
import re
import select
import time
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.progress.choice import display_for
from crawlctl.pipeline.progress.display import Display, LineDisplay, Meter, duration
from crawlctl.pipeline.progress.task_file import Progress, ProgressFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_rates_are_of_the_last_seconds_and_what_was_adopted_is_no_speed() -> None:
    clock = Clock()
    meter = Meter(1000, clock)
    meter.measure(Progress(done=500, bytes=0))
    clock.now = 10
    figures = meter.measure(Progress(done=600, bytes=20_000_000, errors=2, waiting=3))
    assert (figures.per_second, figures.bytes_per_second, figures.eta) == (10, 2e6, 40)
    assert str(figures) == "10.0/s, 2.0 MB/s, 2 errors, 3 hosts waiting, ETA 0:00:40"
    for second in range(11, 60):
        clock.now = second
        figures = meter.measure(Progress(done=600))
    assert (figures.per_second, figures.eta) == (0, None)


def test_a_log_gets_a_line_now_and_then_and_one_at_the_end(tmp_path: Path) -> None:
    stream = io.StringIO()
    said = ProgressFile(str(tmp_path), 0)
    said.write(Progress(done=3, bytes=10))
    with LineDisplay(stream, seconds=0.02).step("round 1, fetch", 5, "pages", tmp_path):
        deadline = time.monotonic() + 20
        while "3/5" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        said.write(Progress(done=5, errors=1))
    said.close()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "round 1, fetch: 5 pages"
    assert lines[1].startswith("round 1, fetch: 3/5 pages, 0.0/s")
    assert re.fullmatch(r"round 1, fetch: 5/5 pages, 1 errors in \d+\.\d s", lines[-1])


def test_tasks_that_cannot_be_heard_are_not_said_to_have_done_nothing(tmp_path: Path) -> None:
    stream = io.StringIO()
    with LineDisplay(stream, seconds=0.02).step("round 1, fetch", 5, "pages", tmp_path):
        deadline = time.monotonic() + 20
        while "under way" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    first, second, *_, last = stream.getvalue().splitlines()
    assert (first, second) == ("round 1, fetch: 5 pages", "round 1, fetch: under way")
    assert re.fullmatch(r"round 1, fetch: done in \d+\.\d s", last)


def test_a_step_that_fails_shows_no_end(tmp_path: Path) -> None:
    stream = io.StringIO()
    with pytest.raises(KeyError), LineDisplay(stream).step("round 1, merge", 5, "partitions", tmp_path):
        raise KeyError
    assert stream.getvalue() == "round 1, merge: 5 partitions\n"


def test_the_silent_display_says_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with Display().step("round 1, fetch", 5, "pages", tmp_path):
        Display().say("nothing")
    assert capfd.readouterr() == ("", "")


def test_what_is_no_terminal_gets_lines() -> None:
    assert isinstance(display_for(io.StringIO()), LineDisplay)


def read_all(master: int) -> str:
    """Return all that has been written; a terminal hands it out in pieces."""
    pieces = []
    while select.select([master], [], [], 0.5)[0]:
        pieces.append(os.read(master, 1 << 16))
    return b"".join(pieces).decode()


@pytest.fixture
def terminal() -> Iterator[tuple[int, io.TextIOWrapper]]:
    """The two ends of a terminal."""
    pytest.importorskip("rich")
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as stream:
        yield master, stream
    os.close(master)


def test_a_terminal_gets_a_bar_with_its_figures(
    terminal: tuple[int, io.TextIOWrapper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    master, stream = terminal
    display = display_for(stream)
    display.say("round 1 [sic]")
    said = ProgressFile(str(tmp_path), 0)
    said.write(Progress(done=3, errors=1, waiting=2))
    with display.step("round 1, fetch", 5, "pages", tmp_path):
        pass
    said.close()
    stream.flush()
    shown = read_all(master)
    assert "round 1 [sic]" in shown
    assert "3/5" in shown
    assert "1 errors, 2 hosts waiting" in shown


def test_the_bar_of_tasks_that_cannot_be_heard_is_full_at_the_end(
    terminal: tuple[int, io.TextIOWrapper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    master, stream = terminal
    with display_for(stream).step("round 1, fetch", 5, "pages", tmp_path):
        pass
    stream.flush()
    assert "5/5" in read_all(master)


def test_spans_are_shown_as_clocks() -> None:
    assert [duration(seconds) for seconds in (0, 59.6, 3600, 90_061)] == [
        "0:00:00",
        "0:01:00",
        "1:00:00",
        "25:01:01",
    ]
