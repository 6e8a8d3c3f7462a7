"""Prints for all commands: lines, bold and green text, and JSON.

click could do it, but importing click takes as long as a query. Like click, we print no styles if the output
is not a terminal. Unlike click, we escape all characters that could control a terminal or mislead its reader
(terminal/printable.py). Characters that the encoding of the terminal lacks become question marks
(terminal/streams.py).
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.terminal.printable import escaped, escaped_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_BOLD, _GREEN, _RESET = "\x1b[1m", "\x1b[32m", "\x1b[0m"


def say(line: object = "", *, err: bool = False) -> None:
    """Print one or more lines; characters that could control the terminal are escaped."""
    say_styled(escaped(str(line), keep="\n\t"), err=err)
    (sys.stderr if err else sys.stdout).flush()


def say_styled(line: str, *, err: bool = False) -> None:
    """Print a line unchanged: the caller has added styles and escaped all other text.

    If standard output and standard error are the same terminal, lines stay in order.
    """
    if err:
        with suppress(OSError):  # the error is reported where standard output is written
            sys.stdout.flush()
    (sys.stderr if err else sys.stdout).write(f"{line}\n")


def bold(text: str) -> str:
    """Return the text in bold, if the output is a terminal."""
    return f"{_BOLD}{text}{_RESET}" if sys.stdout.isatty() else text


def green(text: str) -> str:
    """Return the text in green, if the output is a terminal and NO_COLOR is not set."""
    return f"{_GREEN}{text}{_RESET}" if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else text


def print_json(value: Any) -> None:
    """Print a record or a plain value as one JSON document, always in UTF-8."""
    say_json(json_of(value, indent=2))


def say_json(document: str) -> None:
    """Print a JSON document made by `json_of`."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.flush()
        sys.stdout.buffer.write(document.encode() + b"\n")
        sys.stdout.buffer.flush()
    else:
        say_styled(document)


def say_json_list(name: str, items: Iterable[Any], rest: Callable[[], dict[str, Any]]) -> None:
    """Print a JSON object: a list of any length, item by item, and then the fields that `rest` returns."""
    say_json(f"{{{json_of(name)}: [")
    separator = ""
    for item in items:
        say_json(separator + json_of(item))
        separator = ","
    fields = "".join(f", {json_of(key)}: {json_of(value)}" for key, value in rest().items())
    say_json(f"]{fields}}}")


def write_bytes(data: bytes) -> None:
    """Write bytes to standard output as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def json_of(value: Any, indent: int | None = None) -> str:
    """Return a record or a plain value as JSON; characters that are not printable are escaped.

    It is one line, unless `indent` gives a number of blanks.
    """
    import msgspec

    try:
        document = msgspec.json.encode(value, enc_hook=str)
    except UnicodeEncodeError:  # a lone surrogate, as in file names that are not UTF-8
        import json

        return json.dumps(msgspec.to_builtins(value, enc_hook=str), indent=indent)
    return escaped_json((msgspec.json.format(document, indent=indent) if indent else document).decode())
