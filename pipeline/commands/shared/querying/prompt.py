"""The prompt of `crawlctl query`: one query per line, completed by TAB, with a history kept in a file."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.commands.shared.output import say
from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.terminal.printable import blanked
from crawlctl.pipeline.terminal.width import output_columns
from crawlctl.pipeline.terminal.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROMPT = "query> "
_HELP_HEAD = "You type, and find pages that:"
_TYPED = (("an empty line", "more of the last query"), ("exit or Ctrl-D", "ends the prompt"))
_HELP_END = "To search for the word help or exit, put it in quotes. `crawlctl help query` says more."
_LEAVE = ("exit", "quit")
_MAX_HISTORY = 1000


class ShownPages(NamedTuple):
    """How many pages of an answer were printed, and whether there are more."""

    pages: int
    has_more: bool


def ask(
    answer: Callable[[str, int], ShownPages],
    pages: int,
    completions: Callable[[str], list[str]] = lambda _: [],
) -> None:
    """Read queries and answer them until the end of input; after a query that fails, the next one is read.

    `answer` takes a query and the number of pages to skip, and prints pages. An empty line asks for the next
    pages of the last query. At a terminal, the prompt first prints `pages`, the number of pages in the index.
    At a terminal, `help` and `exit` are commands, and TAB offers the `completions` that begin with the typed
    line.
    """
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not is_terminal:
        _answer_lines(answer)
        return
    history = _History()
    _bind_tab(LineCompleter(completions))
    greeting = f"{counted(pages, 'page')}. Type words to search for; help explains more, exit or Ctrl-D ends."
    say("\n".join(wrapped(greeting, output_columns())))
    _converse(_Conversation(answer))
    history.save()


class _Conversation:
    """The last query of a prompt, and how many of its pages were shown."""

    def __init__(self, answer: Callable[[str, int], ShownPages]) -> None:
        self._answer = answer
        self._query, self._shown = "", 0
        self.has_more = False

    def take(self, line: str) -> None:
        """Answer a query, or with an empty line show more pages of the last query."""
        if line:
            self._query, self._shown, self.has_more = line, 0, True
        if self._query and self.has_more:
            found, self.has_more = self._answer(self._query, self._shown)
            self._shown += found


def _help() -> str:
    from crawlctl.pipeline.search.query.operators import prompt_lines

    room = output_columns()
    return "\n".join((_HELP_HEAD, *prompt_lines(room, *_TYPED), *wrapped(_HELP_END, room)))


def _answer_lines(answer: Callable[[str, int], ShownPages]) -> None:
    """Answer each line of an input that is not a terminal."""
    conversation = _Conversation(answer)
    for line in iter(sys.stdin.readline, ""):
        with _errors_printed():
            conversation.take(line.strip())


def _converse(conversation: _Conversation) -> None:
    while True:
        try:
            line = input(PROMPT).strip()
            if line in _LEAVE:
                return
            if line == "help":
                say(_help())
                continue
            if not line and not conversation.has_more:
                say("no more pages; type another query, or exit")
                continue
            with _errors_printed():
                conversation.take(line)
                if conversation.has_more:
                    say("An empty line shows more.")
        except KeyboardInterrupt:
            say()
        except (EOFError, OSError):  # Ctrl-D, or the terminal was closed
            with suppress(OSError):
                say()
            return


@contextmanager
def _errors_printed() -> Iterator[None]:
    """Print a failure of one query as a line."""
    try:
        yield
    except CrawlctlError as err:
        from crawlctl.pipeline.config.secrets import masked

        say(f"crawlctl: {masked(str(err))}", err=True)


class LineCompleter:
    """The completions that TAB offers for a line; readline asks for them one by one."""

    def __init__(self, completions: Callable[[str], list[str]]) -> None:
        self._completions = completions
        self._offers: list[str] = []

    def __call__(self, line: str, number: int) -> str | None:
        if number == 0:
            self._offers = []
            with suppress(CrawlctlError):  # the query itself will report the error
                self._offers = [blanked(text) for text in self._completions(line) if text.startswith(line)]
        return self._offers[number] if number < len(self._offers) else None


def _bind_tab(completer: LineCompleter) -> None:
    with suppress(ImportError):
        import readline

        readline.set_completer_delims("")  # the whole line is completed
        readline.set_completer(completer)
        readline.parse_and_bind("tab: complete")


class _History:
    """The lines typed at this and earlier prompts; without the module readline nothing is kept."""

    def __init__(self) -> None:
        self._path = _history_file()
        with suppress(ImportError, OSError):
            import readline

            readline.set_history_length(_MAX_HISTORY)
            if self._path is not None:
                readline.read_history_file(self._path)

    def save(self) -> None:
        """Write the history file; if that fails, the lines of this prompt are lost and nothing else."""
        if self._path is None:
            return
        with suppress(ImportError, OSError):
            import readline

            self._path.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(self._path)


def _history_file() -> Path | None:
    """Return the file of the history, None if the user has no home."""
    try:
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    except RuntimeError:
        return None
    return state / "crawlctl" / "history"
