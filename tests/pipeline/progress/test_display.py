from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import select
import struct
import termios
import time
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.progress.choice import display_for
from crawlctl.pipeline.progress.display import Display, LineDisplay, ShownStep
from crawlctl.pipeline.progress.task_file import HostProgress, Progress, ProgressFile
from crawlctl.pipeline.terminal.width import columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def test_a_log_gets_a_line_now_and_then_and_one_at_the_end(tmp_path: Path) -> None:
    stream = io.StringIO()
    said = ProgressFile(str(tmp_path), 0)
    said.write(Progress(done=3, bytes=10))
    with LineDisplay(stream, seconds=0.02).step(ShownStep("round 1, fetch", 5, "pages", tmp_path)):
        deadline = time.monotonic() + 20
        while "3/5" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        said.write(Progress(done=5, errors=1))
    said.close()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "round 1, fetch: 5 pages"
    assert lines[1].startswith("round 1, fetch: 3/5 pages, 0.0/s")
    assert re.fullmatch(r"round 1, fetch: 5/5 pages, 1 error in \d+\.\d s", lines[-1])


def test_a_log_names_the_host_that_needs_the_longest(tmp_path: Path) -> None:
    stream = io.StringIO()
    said = ProgressFile(str(tmp_path), 0)
    said.write(Progress(done=1, hosts=(HostProgress("slow.example", 4, 1, seconds=9.0),)))
    with LineDisplay(stream, seconds=0.02).step(ShownStep("round 1, fetch", 1, "pages", tmp_path)):
        deadline = time.monotonic() + 20
        while "slow" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    said.close()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "round 1, fetch: 1 page"
    assert lines[1] == "round 1, fetch: 1/1 page, 0.0/s; slow.example: 4 URLs left, asked"


def test_tasks_that_cannot_be_heard_are_not_said_to_have_done_nothing(tmp_path: Path) -> None:
    stream = io.StringIO()
    with LineDisplay(stream, seconds=0.02).step(ShownStep("round 1, fetch", 5, "pages", tmp_path)):
        deadline = time.monotonic() + 20
        while "under way" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    first, second, *_, last = stream.getvalue().splitlines()
    assert (first, second) == ("round 1, fetch: 5 pages", "round 1, fetch: under way")
    assert re.fullmatch(r"round 1, fetch: done in \d+\.\d s", last)


@pytest.mark.parametrize(("does_all", "count"), [(True, "4/4"), (False, "3/4")])
def test_a_finished_step_that_does_all_says_so_though_a_task_had_no_work(
    tmp_path: Path, does_all: bool, count: str
) -> None:
    stream = io.StringIO()
    display = LineDisplay(stream)
    with display.step(ShownStep("round 1, merge", 4, "partitions", tmp_path, does_all=does_all)):
        said = ProgressFile(str(tmp_path), 0)
        said.write(Progress(done=3))
        said.close()
    assert f"round 1, merge: {count} partitions in " in stream.getvalue()


def test_a_step_that_fails_shows_no_end(tmp_path: Path) -> None:
    stream = io.StringIO()
    with (
        pytest.raises(KeyError),
        LineDisplay(stream).step(ShownStep("round 1, merge", 5, "partitions", tmp_path)),
    ):
        raise KeyError
    assert stream.getvalue() == "round 1, merge: 5 partitions\n"


def test_the_silent_display_says_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with Display().step(ShownStep("round 1, fetch", 5, "pages", tmp_path)):
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
    with display.step(ShownStep("round 1, fetch", 5, "pages", tmp_path)):
        pass
    said.close()
    stream.flush()
    shown = read_all(master)
    assert "round 1 [sic]" in shown
    assert "3/5" in shown
    assert "1 error, hosts: 2 waiting" in shown
    last = lines_of(shown)[-1]
    assert re.fullmatch(r"\S+ round 1, fetch 3/5 pages, in \d+\.\d s, 1 error", last), "no rate, no ETA"


def test_the_bar_of_tasks_that_cannot_be_heard_is_full_at_the_end(
    terminal: tuple[int, io.TextIOWrapper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    master, stream = terminal
    with display_for(stream).step(ShownStep("round 1, fetch", 5, "pages", tmp_path)):
        pass
    stream.flush()
    assert "5/5" in read_all(master)


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_cannot_move_its_cursor_gets_lines(
    terminal: tuple[int, io.TextIOWrapper], term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    assert isinstance(display_for(terminal[1]), LineDisplay)


def resize(stream: io.TextIOWrapper, width: int) -> None:
    fcntl.ioctl(stream, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))


def lines_of(shown: str) -> list[str]:
    """The lines that were ever on the terminal, without its commands."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    return [line for line in re.split(r"[\r\n]+", plain) if line]


@pytest.mark.parametrize("width", [40, 80])
def test_count_and_hosts_fit_the_terminal(
    terminal: tuple[int, io.TextIOWrapper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("crawlctl.pipeline.progress.bar.REFRESH_SECONDS", 0.05)
    master, stream = terminal
    said = ProgressFile(str(tmp_path), 0)
    hosts = tuple(HostProgress(f"{name * 40}.example", 12_345, 1, seconds=9.0) for name in ("a", "例", "c"))
    said.write(Progress(done=1_234_567, errors=1, waiting=2, hosts=hosts))
    shown = b""
    with display_for(stream).step(ShownStep("round 12, fetch", 12_345_678, "pages", tmp_path)):
        deadline = time.monotonic() + 20
        while b"URLs left" not in shown and time.monotonic() < deadline:
            shown += os.read(master, 1 << 16)
    said.close()
    stream.flush()
    lines = lines_of(shown.decode() + read_all(master))
    assert all(columns(line) < width for line in lines)
    assert "1,234,567/12,345,678" in lines[-1]
    assert sum("…" in line and "12,345 URLs left" in line for line in lines) >= len(hosts)


def test_a_narrower_terminal_gets_narrower_lines(
    terminal: tuple[int, io.TextIOWrapper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("COLUMNS", raising=False)
    master, stream = terminal
    resize(stream, 80)
    said = ProgressFile(str(tmp_path), 0)
    said.write(Progress(done=1_234_567, errors=1, waiting=2))
    with display_for(stream).step(ShownStep("round 12, fetch", 12_345_678, "pages", tmp_path)):
        resize(stream, 40)
    said.close()
    stream.flush()
    last = lines_of(read_all(master))[-1]
    assert columns(last) < 40 and "1,234,567/12,345,678" in last


def test_without_colour_nothing_is_coloured(
    terminal: tuple[int, io.TextIOWrapper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    master, stream = terminal
    said = ProgressFile(str(tmp_path), 0)
    said.write(Progress(done=3))
    with display_for(stream).step(ShownStep("round 1, fetch", 5, "pages", tmp_path)):
        pass
    said.close()
    stream.flush()
    assert re.search(r"\x1b\[[0-9;]*3[0-9]m", read_all(master)) is None
