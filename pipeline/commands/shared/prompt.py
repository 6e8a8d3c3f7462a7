"""The prompt of `crawlctl query`: a query a line, with a history that outlives it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.pipeline.commands.shared.output import say
from crawlctl.pipeline.errors import CrawlctlError

if TYPE_CHECKING:
    from collections.abc import Callable

PROMPT = "query> "
_MAX_HISTORY = 1000


def ask(answer: Callable[[str, int], int], step: int) -> None:
    """Answer the lines that are typed until the end of input; a query that fails does not end it.

    `answer` takes a query and how many pages to leave out, and returns how many it has shown.
    """
    is_terminal = sys.stdin.isatty()
    history = _History() if is_terminal else None
    last, offset = "", 0
    while True:
        try:
            line = input(PROMPT if is_terminal else "").strip()
            if line:
                last, offset = line, 0
            if last:
                offset += step if answer(last, offset) else 0
        except EOFError:
            break
        except KeyboardInterrupt:
            if not is_terminal:
                raise
            say()
        except CrawlctlError as err:
            from crawlctl.pipeline.config.secrets import masked

            say(f"crawlctl: {masked(str(err))}", err=True)
    if history is not None:
        say()
        history.save()


class _History:
    """The lines typed before, of this and earlier prompts, where Python has readline."""

    def __init__(self) -> None:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        self._path = Path(state) / "crawlctl" / "history"
        with suppress(ImportError, OSError):
            import readline

            readline.set_history_length(_MAX_HISTORY)
            readline.read_history_file(self._path)

    def save(self) -> None:
        """Write the history; where that cannot be done, the next prompt has a shorter one."""
        with suppress(ImportError, OSError):
            import readline

            self._path.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(self._path)
