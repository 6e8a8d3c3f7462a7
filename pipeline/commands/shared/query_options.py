"""The options of `crawlctl query`, as data.

click makes its options of them (query.py). But click takes as long to import as a query to answer, so a query
that is spelt plainly is read by the same table without it; what looks odd in any way is left to click, which
alone knows how to help and complain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.commands.shared.session import STORE_FLAG

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_MAX_DIGITS = 9


class Option:
    """A flag, where the default is False; else a choice, or a whole number from `low` to `high`."""

    def __init__(
        self,
        name: str,
        key: str,
        meaning: str,
        *,
        default: bool | int | str = False,
        choices: tuple[str, ...] = (),
        low: int = 0,
        high: int | None = None,
    ) -> None:
        self.name = name
        self.key = key
        self.meaning = meaning
        self.default = default
        self.is_flag = default is False
        self.choices = choices
        self.low = low
        self.high = high

    def value_of(self, text: str) -> int | str | None:
        """Return the value that a text stands for; None where click has to say so, or why not."""
        if self.choices:
            return text if text in self.choices else None
        if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
            return None
        number = int(text)
        return number if self.low <= number and (self.high is None or number <= self.high) else None


OPTIONS = (
    Option("--limit", "limit", "The largest number of pages to show.", default=10, low=1, high=10_000),
    Option("--offset", "offset", "Skip this many pages at the beginning.", default=0),
    Option(
        "--sort",
        "sort",
        "Show the best or the latest pages first.",
        default="score",
        choices=("score", "date"),
    ),
    Option("--strict", "strict", "Show only pages that have all words."),
    Option("--explain", "explain", "Show how each score is computed."),
    Option("--urls", "urls", "Print only URLs, one per line."),
    Option("--count", "count", "Print only the number of matching pages."),
    Option("--json", "as_json", "Print JSON instead of text."),
)
_FORMS = ("as_json", "urls", "count")


class PlainQuery:
    """What a command line asks for."""

    def __init__(self, words: tuple[str, ...], store: str | None, options: dict[str, Any]) -> None:
        self.words = words
        self.store = store
        self.options = options


def read_plainly(arguments: Sequence[str]) -> PlainQuery | None:
    """Return what click would make of the arguments of a query, None where they are not plain."""
    known = {option.name: option for option in OPTIONS}
    options: dict[str, Any] = {option.key: option.default for option in OPTIONS}
    words: list[str] = []
    store = None
    left = iter(arguments)
    for argument in left:
        name, equals, text = argument.partition("=")
        option = known.get(name)
        if argument == "--":
            words += left
        elif not argument.startswith("--"):
            words.append(argument)
        elif option is not None and option.is_flag and not equals:
            options[option.key] = True
        elif name == STORE_FLAG:
            store = text if equals else next(left, None)
            if store is None:
                return None
        elif option is not None:
            value = option.value_of(text if equals else next(left, ""))
            if option.is_flag or value is None:
                return None
            options[option.key] = value
        else:
            return None
    is_plain = words and words != ["-h"] and not clashing(options)
    return PlainQuery(tuple(words), store, options) if is_plain else None


def clashing(options: dict[str, Any]) -> bool:
    """Tell whether more than one form of output is asked for."""
    return len([key for key in _FORMS if options[key]]) > 1
