"""Commands in messages: each names the store that the user has named, so that it can be typed as it stands.

Most messages are made where no flag is known, such as in a file format. So the store is added in one place,
where a message is printed. Without --store a command finds the store as the command before it did.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawlctl.pipeline.progress.display import Display

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.progress.display import ShownStep

# What is done "by" a command is not to be typed.
_COMMAND = re.compile(r"(?<!\bby )`crawlctl (?P<words>[^`]+?)(?P<output> > [^`]*)?`")
_WITHOUT_STORE = frozenset({"help", "completion", "version", "demo"})
_SAYS_ENOUGH = frozenset({"--store", "--help"})


def with_store(message: str, store_words: Sequence[str]) -> str:
    """Return a message whose commands in backquotes have the words that name the store, if they need them."""
    if not store_words:
        return message
    import shlex

    store = shlex.join(store_words)

    def named(command: re.Match[str]) -> str:
        words = command["words"].split()
        if words[0] in _WITHOUT_STORE or not _SAYS_ENOUGH.isdisjoint(words):
            return command[0]
        return f"`crawlctl {command['words']} {store}{command['output'] or ''}`"

    return _COMMAND.sub(named, message)


class StoreNamingDisplay(Display):
    """Shows everything on another display; commands in its lines name the store."""

    def __init__(self, display: Display, store_words: Sequence[str]) -> None:
        self._display = display
        self._store_words = store_words

    def say(self, text: str) -> None:
        """Show a line with the store in its commands."""
        self._display.say(with_store(text, self._store_words))

    @contextmanager
    def step(self, step: ShownStep) -> Iterator[None]:
        """Show the progress of a step while the block runs."""
        with self._display.step(step):
            yield
