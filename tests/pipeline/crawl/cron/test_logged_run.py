"""The log of cron's runs: dates, limited size, and how a run ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.crawl.cron import logged_run
from crawlctl.pipeline.crawl.cron.logged_run import main
from crawlctl.pipeline.errors import EXIT_BUSY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def own_signals() -> Iterator[None]:
    """`main` lasts as long as its process; here the handlers of signals come back."""
    before = {number: signal.getsignal(number) for number in logged_run.FORWARDED}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def run(log: Path, program: str) -> int:
    return main([str(log), sys.executable, "-c", program])


def texts(log: Path) -> list[str]:
    return [line.split(" UTC ", 1)[1] for line in log.read_text(encoding="utf-8").splitlines()]


def test_both_outputs_are_logged_with_dates_and_runs_are_appended(tmp_path: Path) -> None:
    log = tmp_path / "a log.txt"
    assert run(log, "import sys; print('é', flush=True); print('two\\nthree', file=sys.stderr)") == 0
    assert run(log, "raise SystemExit(7)") == 7
    assert texts(log)[1:4] == ["é", "two", "three"]
    assert [text.split(" after")[0] for text in texts(log) if text.startswith("ended")] == [
        "ended with exit code 0",
        "ended with exit code 7",
    ]


def test_a_store_in_use_is_no_failure(tmp_path: Path) -> None:
    assert run(tmp_path / "log", f"raise SystemExit({EXIT_BUSY})") == 0
    assert "the crawl was in use" in texts(tmp_path / "log")[-1]


def test_a_killed_run_and_a_traceback_are_in_the_log(tmp_path: Path) -> None:
    assert run(tmp_path / "log", "import os; os.kill(os.getpid(), 9)") == 128 + 9
    assert run(tmp_path / "log", "1 / 0") == 1
    assert "ZeroDivisionError: division by zero" in texts(tmp_path / "log")


def test_logs_are_renamed_and_only_so_many_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logged_run, "MAX_BYTES", 2000)
    monkeypatch.setattr(logged_run, "OLD_LOGS", 2)
    for number in range(4):
        run(tmp_path / "log", f"for line in range(50): print('run {number}, line', line)")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["log", "log.1", "log.2"]
    assert all(path.stat().st_size <= 2000 for path in tmp_path.iterdir())
    kept = texts(tmp_path / "log.2") + texts(tmp_path / "log.1") + texts(tmp_path / "log")
    lines = [text for text in kept if text.startswith("run ")]
    assert lines[-1] == "run 3, line 49"
    assert lines[-50:] == [f"run 3, line {line}" for line in range(50)], "nothing is lost at the renaming"


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    assert run(tmp_path / "log", "print('x' * 25_000)") == 0
    assert [len(text) for text in texts(tmp_path / "log")[1:4]] == [10_000, 10_000, 5_000]


def test_a_signal_reaches_the_run(tmp_path: Path) -> None:
    program = "import signal as s; s.signal(15, lambda *_: exit(143)); print('up', flush=True); s.pause()"
    words = [sys.executable, "-m", logged_run.__name__, str(tmp_path / "log"), sys.executable, "-c", program]
    with subprocess.Popen(words, env=os.environ) as process:
        until = time.monotonic() + 60
        while not (tmp_path / "log").exists() or "up" not in texts(tmp_path / "log"):
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 143
    assert texts(tmp_path / "log")[-1].startswith("ended with exit code 143")


def test_what_cannot_be_logged_goes_to_standard_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "no folder" / "log", "print('hello')") == 0
    assert "hello" in capfd.readouterr().err
