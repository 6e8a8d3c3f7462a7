"""LiveDisplay: a moving progress bar on a terminal."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bars

from crawlctl.pipeline.progress.display import UNDER_WAY, Display, Meter, watching
from crawlctl.pipeline.progress.task_file import Progress, is_silent, read_progress
from crawlctl.pipeline.terminal.printable import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REFRESH_SECONDS = 0.5


class LiveDisplay(Display):
    """Shows a bar for the running step, with its figures after it."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, highlight=False)

    def say(self, text: str) -> None:
        """Print a line."""
        self._console.print(escaped(text), markup=False)

    @contextmanager
    def step(self, title: str, total: int, unit: str, folder: Path) -> Iterator[None]:
        """Show the bar while the block runs; it stays on the terminal afterwards."""
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[figures]}", markup=False),
        )
        # Forked tasks inherit sys.stderr; with rich's wrapper they would inherit its lock too.
        bars = Bars(*columns, console=self._console, redirect_stdout=False, redirect_stderr=False)
        with bars:
            bar, meter = bars.add_task(title, total=total, figures=unit), Meter(total)

            def show(progress: Progress) -> None:
                figures = f"{unit}, {UNDER_WAY if is_silent(folder) else meter.measure(progress)}"
                bars.update(bar, completed=progress.done, total=max(total, progress.done), figures=figures)

            with watching(folder, show, REFRESH_SECONDS):
                yield
            if is_silent(folder):
                bars.update(bar, completed=total, figures=unit)
            else:
                show(read_progress(folder))
