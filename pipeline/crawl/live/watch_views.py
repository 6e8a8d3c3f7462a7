"""How `crawlctl status --watch` shows what it follows: redrawn on a terminal, else as lines or as JSON."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from crawlctl.pipeline.crawl.live.live_lines import (
    death_sentence,
    holder_line,
    live_json,
    live_lines,
    now_doing,
)
from crawlctl.pipeline.progress.choice import can_move
from crawlctl.pipeline.terminal.printable import escaped, escaped_json
from crawlctl.pipeline.terminal.width import output_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.state.live.live_status import LiveStatus, LiveView

LINE_SECONDS = 10.0  # seconds between two lines about the same step


class WatchLines:
    """Prints a line for each new step, and every LINE_SECONDS while it runs."""

    def __init__(self, again: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.again = again  # the command that runs a crawl
        self._clock = clock
        self._step: str | None = None
        self._printed = 0.0
        self.has_seen = False

    def show(self, view: LiveView) -> None:
        """Show a view, or how the command has ended."""
        if not view.is_running:
            self.end(view)
            return
        if not self.has_seen and view.holder is not None:
            self.say(holder_line(view.holder))
        self.has_seen = True
        if view.status is not None and self._is_time(view.status):
            self.say(now_doing(view.status))

    def end(self, view: LiveView) -> None:
        """Show how the command has ended, or that no command was running."""
        self.say(_ending(view, self.again, has_seen=self.has_seen))

    def say(self, line: str) -> None:
        """Print a line."""
        print(escaped(line), flush=True)

    def _is_time(self, status: LiveStatus) -> bool:
        now = self._clock()
        if status.step == self._step and now - self._printed < LINE_SECONDS:
            return False
        self._step, self._printed = status.step, now
        return True


class WatchJson(WatchLines):
    """Prints a line of JSON per status, and one at the end."""

    def __init__(self, again: str) -> None:
        super().__init__(again)
        self._published: float | None = None

    def show(self, view: LiveView) -> None:
        """Print a status that was not printed yet."""
        status = view.status
        if not view.is_running:
            state = "died" if view.has_died else "ended" if self.has_seen else "idle"
            self._print(state, status)
        elif status is None and not self.has_seen:
            self._print("starting", None)
        elif status is not None and status.published != self._published:
            self._published = status.published
            self._print("running", status)
        self.has_seen = True

    def _print(self, state: str, status: LiveStatus | None) -> None:
        fields: dict[str, Any] = {"state": state, "status": status and live_json(status)}
        print(escaped_json(msgspec.json.encode(fields).decode()), flush=True)


class WatchScreen(WatchLines):
    """Shows the step, the hosts and the URLs on a terminal, and draws them anew with each status."""

    def __init__(self, again: str, draw: Callable[[list[str]], None]) -> None:
        super().__init__(again)
        self._draw = draw

    def show(self, view: LiveView) -> None:
        """Draw a view; after the end of the command, draw how it has ended instead."""
        if view.is_running:
            self.has_seen = True
            size = output_columns() - 1, _rows() - 1
            self._draw(list(live_lines(view, *size, time.time())))
        else:
            self._draw([_ending(view, self.again, has_seen=self.has_seen)])


@contextmanager
def view_for(*, as_json: bool, again: str) -> Iterator[WatchLines]:
    """Return the view that fits standard output."""
    if as_json:
        yield WatchJson(again)
    elif not can_move(sys.stdout):
        yield WatchLines(again)
    else:
        from rich.console import Console, Group
        from rich.live import Live
        from rich.text import Text

        with Live(console=Console(file=sys.stdout, highlight=False), auto_refresh=False) as live:

            def draw(lines: list[str]) -> None:
                rows = [Text(escaped(line), overflow="fold") for line in lines]
                live.update(Group(*rows), refresh=True)

            yield WatchScreen(again, draw)


def _ending(view: LiveView, again: str, *, has_seen: bool) -> str:
    if view.has_died and view.status is not None:
        return death_sentence(view.status)
    if has_seen:
        return "the command has ended; `crawlctl status` says how the crawl is now"
    return f"no command is using the crawl now; start one with `{again}`, then watch it"


def _rows() -> int:
    import shutil

    return shutil.get_terminal_size().lines
