"""The prompt of `crawlctl query`: one query per line, with a history that is kept in a file."""

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
    """Read queries and answer them until the end of input; after a query that fails, the next one is read.

    `answer` takes a query and the number of pages to skip, prints pages, and returns how many it has printed.
    An empty line asks for the next `step` pages of the last query.
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
    """The lines typed at this and earlier prompts; without the module readline there is no history."""

    def __init__(self) -> None:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        self._path = Path(state) / "crawlctl" / "history"
        with suppress(ImportError, OSError):
            import readline

            readline.set_history_length(_MAX_HISTORY)
            readline.read_history_file(self._path)

    def save(self) -> None:
        """Write the history file; if that fails, the lines of this prompt are lost and nothing else."""
        with suppress(ImportError, OSError):
            import readline

            self._path.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(self._path)
