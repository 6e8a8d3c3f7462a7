"""Displays: show the user how far a step is, as lines or as a live bar, from the reports of its tasks."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from crawlctl.pipeline.progress.task_file import Progress, is_silent, read_progress
from crawlctl.pipeline.terminal.printable import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WINDOW = 20.0  # seconds over which rates are measured
LINE_SECONDS = 30.0  # seconds between two lines in a log
MEGABYTE = 1e6
UNDER_WAY = "under way"  # shown for tasks on other machines, which cannot report here


@dataclass(frozen=True)
class Figures:
    """How far a step is and how fast it goes; `eta` is in seconds, None while nothing moves."""

    progress: Progress
    per_second: float
    bytes_per_second: float
    eta: float | None

    def __str__(self) -> str:
        said = [f"{self.per_second:.1f}/s"]
        if self.progress.bytes:
            said.append(f"{self.bytes_per_second / MEGABYTE:.1f} MB/s")
        if self.progress.errors:
            said.append(f"{self.progress.errors} errors")
        if self.progress.waiting:
            said.append(f"{self.progress.waiting} hosts waiting")
        if self.eta is not None:
            said.append(f"ETA {duration(self.eta)}")
        return ", ".join(said)


class Meter:
    """Turns reports of progress into rates; the progress with which a resumed step starts does not count."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._total = total
        self._clock = clock
        self._samples: deque[tuple[float, Progress]] = deque()

    def measure(self, progress: Progress) -> Figures:
        """Add a sample of the progress, and return the figures."""
        now = self._clock()
        self._samples.append((now, progress))
        while len(self._samples) > 2 and now - self._samples[1][0] >= WINDOW:
            self._samples.popleft()
        since, before = self._samples[0]
        seconds = max(now - since, 1e-3)
        rate = (progress.done - before.done) / seconds
        left = max(self._total - progress.done, 0)
        return Figures(
            progress,
            per_second=rate,
            bytes_per_second=(progress.bytes - before.bytes) / seconds,
            eta=left / rate if rate > 0 and left else None,
        )


class Display:
    """The interface of all displays; this one shows nothing."""

    def say(self, text: str) -> None:
        """Show the user a line."""

    @contextmanager
    def step(self, title: str, total: int, unit: str, folder: Path) -> Iterator[None]:
        """Show the progress of the tasks that report to a folder, while the block runs."""
        yield


class LineDisplay(Display):
    """Prints plain lines, two per minute: for a log, cron and pipes."""

    def __init__(self, stream: TextIO | None = None, seconds: float = LINE_SECONDS) -> None:
        self._stream = stream or sys.stderr
        self._seconds = seconds

    def say(self, text: str) -> None:
        """Print a line."""
        print(escaped(text), file=self._stream, flush=True)

    @contextmanager
    def step(self, title: str, total: int, unit: str, folder: Path) -> Iterator[None]:
        """Print a line from time to time, and one at the end."""
        self.say(f"{title}: {total} {unit}")
        started, meter = time.monotonic(), Meter(total)

        def show(progress: Progress) -> None:
            figures = f"{progress.done}/{total} {unit}, {meter.measure(progress)}"
            self.say(f"{title}: {UNDER_WAY if is_silent(folder) else figures}")

        with watching(folder, show, self._seconds):
            yield
        done = read_progress(folder)
        errors = f", {done.errors} errors" if done.errors else ""
        figures = "done" if is_silent(folder) else f"{done.done}/{total} {unit}{errors}"
        self.say(f"{title}: {figures} in {time.monotonic() - started:.1f} s")


@contextmanager
def watching(folder: Path, show: Callable[[Progress], None], seconds: float) -> Iterator[None]:
    """Call `show` with the progress in a folder every `seconds` while the block runs."""
    ended = threading.Event()

    def poll() -> None:
        while not ended.wait(seconds):
            show(read_progress(folder))

    watcher = threading.Thread(target=poll, name="progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def duration(seconds: float) -> str:
    """Return a span of time as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
