"""The options of `crawlctl query` as a table, and a reader of command lines that does not need click.

query.py makes click options from the table. But importing click takes as long as answering a query. So a
plain command line is read here, with the same table. Any unusual command line is passed to click, which
prints all help and errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.commands.shared.session import SET_FLAG, STORE_FLAG

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_MAX_DIGITS = 9


class Option:
    """One option: a flag if the default is False, a choice if it has `choices`, else a number.

    `key` is its name in the dictionary of options; `low` and `high` are the limits of a number.
    """

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
        """Return the value of a text, None if it may not be valid, which click then decides."""
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
    Option("--all", "unfolded", "Show near duplicates too, which are folded otherwise."),
    Option("--facets", "facets", "Count the pages by site, language, type, year and field."),
    Option("--explain", "explain", "Show how each score is computed."),
    Option("--urls", "urls", "Print only URLs, one per line."),
    Option("--count", "count", "Print only the number of matching pages."),
    Option("--json", "as_json", "Print JSON instead of text."),
)
_FORMS = ("as_json", "urls", "count")
_WITHOUT_FACETS = ("urls", "count")
_LONG_NAMES = {option.name for option in OPTIONS} | {STORE_FLAG, SET_FLAG, "--config", "--verbose", "--help"}
MEANT = {"n": "--limit"}  # -n N, as in the commands head and tail
# Letters that may be followed by a number, as in -n3.
_OF_NUMBERS = {
    *MEANT,
    *(option.name[2] for option in OPTIONS if isinstance(option.default, int) and not option.is_flag),
}


class PlainQuery:
    """The words and options of a command line that was read without click."""

    def __init__(self, words: tuple[str, ...], store: str | None, options: dict[str, Any]) -> None:
        self.words = words
        self.store = store
        self.options = options


def read_plainly(arguments: Sequence[str]) -> PlainQuery | None:
    """Return the same words and options as click would, None if the command line is not plain."""
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
        elif is_mistyped(argument):
            return None
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
    is_plain = words and not clashing(options)
    return PlainQuery(tuple(words), store, options) if is_plain else None


def is_mistyped(argument: str) -> bool:
    """Return whether an argument looks like an option, but has only one minus: -n, -n3, -limit, -limit=3.

    A user who types -n 3 wants three pages, not pages without the word n. All other words with a minus are
    words to exclude: -vim, -x86.
    """
    name = argument[1:].partition("=")[0]
    if argument[:1] != "-" or not name.isascii():
        return False
    is_counted = name[:1] in _OF_NUMBERS and name[1:].isdigit()
    return is_counted or f"--{name}" in _LONG_NAMES or (len(argument) == len("-n") and name.isalnum())


def clashing(options: dict[str, Any]) -> bool:
    """Return whether several forms of output are given, or facets with a form that cannot show them."""
    without_facets = options["facets"] and any(options[key] for key in _WITHOUT_FACETS)
    return without_facets or len([key for key in _FORMS if options[key]]) > 1
