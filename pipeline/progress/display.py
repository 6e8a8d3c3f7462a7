"""Displays: show the user how far a step is, as lines or as a live bar, from the reports of its tasks."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from msgspec.structs import replace

from crawlctl.pipeline.progress.figures import Meter, counted_unit, host_state
from crawlctl.pipeline.progress.task_file import Progress, is_silent, read_progress
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.terminal.printable import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LINE_SECONDS = 30.0  # seconds between two lines in a log
UNDER_WAY = "under way"  # shown for tasks on other machines, which cannot report here


@dataclass(frozen=True)
class ShownStep:
    """A step whose tasks report to a folder, as displays show it.

    `unit` is the plural noun for the counted items. The step ends at `deadline` at the latest, in UTC
    seconds. A step that `does_all` has done its total when it ends, also if a task had no work and did not
    report.
    """

    title: str
    total: int
    unit: str
    folder: Path
    deadline: float | None = None
    does_all: bool = False


class Display:
    """The interface of all displays; this one shows nothing."""

    def say(self, text: str) -> None:
        """Show the user a line."""

    @contextmanager
    def step(self, step: ShownStep) -> Iterator[None]:
        """Show the progress of a step while the block runs."""
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
    def step(self, step: ShownStep) -> Iterator[None]:
        """Print a line from time to time, and one at the end."""
        self.say(f"{step.title}: {counted_unit(step.total, step.unit)}")
        started, meter = time.monotonic(), Meter(step.total, step.deadline)

        def show(progress: Progress) -> None:
            figures = f"{_count(progress, step)}, {meter.measure(progress)}{_slowest(progress)}"
            self.say(f"{step.title}: {UNDER_WAY if is_silent(step.folder) else figures}")

        with watching(step.folder, show, self._seconds):
            yield
        done = at_the_end(step)
        errors = f", {counted(done.errors, 'error')}" if done.errors else ""
        figures = "done" if is_silent(step.folder) else f"{_count(done, step)}{errors}"
        self.say(f"{step.title}: {figures} in {time.monotonic() - started:.1f} s")


def at_the_end(step: ShownStep) -> Progress:
    """Return the progress of a step that has ended without an error."""
    found = read_progress(step.folder)
    return replace(found, done=max(step.total, found.done)) if step.does_all else found


def _count(progress: Progress, step: ShownStep) -> str:
    # A round may fetch more pages than were due when it began.
    return f"{progress.done:,}/{counted_unit(max(step.total, progress.done), step.unit)}"


def _slowest(progress: Progress) -> str:
    """Return the host that needs the longest, with its state."""
    if not progress.hosts:
        return ""
    host = progress.hosts[0]
    return f"; {host.host}: {host_state(host, time.time())}"


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
