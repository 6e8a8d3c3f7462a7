"""LiveDisplay: on a terminal, a line that moves, and below it the hosts that need the longest."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from crawlctl.pipeline.progress.display import UNDER_WAY, Display, ShownStep, at_the_end, watching
from crawlctl.pipeline.progress.figures import Meter, counted_unit, ended_parts, host_line, status_line
from crawlctl.pipeline.progress.task_file import Progress, is_silent, read_progress
from crawlctl.pipeline.terminal.printable import escaped
from crawlctl.pipeline.terminal.width import columns, output_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

REFRESH_SECONDS = 0.5
_WIDEST_BAR = 30
_NARROWEST_BAR = 8
_SHOWN_HOSTS = 3


class LiveDisplay(Display):
    """Shows the running step in a line with a bar, its count and its figures, as far as they fit."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._console = Console(file=stream, highlight=False)

    def say(self, text: str) -> None:
        """Print a line."""
        self._console.print(escaped(text), markup=False)

    @contextmanager
    def step(self, step: ShownStep) -> Iterator[None]:
        """Show the line while the block runs; it stays on the terminal afterwards, without the hosts."""
        started, meter = time.monotonic(), Meter(step.total, step.deadline)

        def shown(progress: Progress) -> Group:
            if is_silent(step.folder):  # show no count, not 0: an earlier attempt may have done a part
                return Group(Text(f"{step.title} {counted_unit(step.total, step.unit)}, {UNDER_WAY}"))
            lines = self._lines(step, progress.done, meter.measure(progress).parts())
            lines.renderables.extend(self._hosts(progress))
            return lines

        def ended() -> Group:
            progress = at_the_end(step)
            done = step.total if is_silent(step.folder) else progress.done
            return self._lines(step, done, ended_parts(progress, time.monotonic() - started))

        # Forked tasks inherit sys.stderr; with rich's wrapper they would inherit its lock too.
        with Live(
            shown(read_progress(step.folder)),
            console=self._console,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        ) as live:
            with watching(step.folder, lambda now: live.update(shown(now), refresh=True), REFRESH_SECONDS):
                yield
            live.update(ended(), refresh=True)

    def _lines(self, step: ShownStep, done: int, parts: list[str]) -> Group:
        room, total = self._room, max(step.total, done)
        line = status_line(step.title, done, total, step.unit, parts, room=room)
        width = min(_WIDEST_BAR, room - columns(line) - 1)
        text = Text(no_wrap=True, overflow="crop")
        if width >= _NARROWEST_BAR:
            self._draw(text, width, done / total if total else 1.0)
        return Group(text.append(line))

    def _hosts(self, progress: Progress) -> list[Text]:
        now = time.time()
        lines = (host_line(host, self._room, now) for host in progress.hosts[:_SHOWN_HOSTS])
        return [Text(line, no_wrap=True, overflow="crop", style="dim") for line in lines]

    @property
    def _room(self) -> int:
        """The columns of the terminal now, without the last: some terminals break the line after it."""
        return output_columns(self._stream) - 1

    def _draw(self, text: Text, width: int, share: float) -> None:
        full, empty = ("#", ".") if self._console.options.ascii_only else ("━", "╌")
        done = round(width * min(1.0, share))
        text.append(full * done, style="green").append(empty * (width - done), style="dim").append(" ")
