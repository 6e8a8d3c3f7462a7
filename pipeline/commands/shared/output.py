"""What all commands print with: lines, bold and green, and JSON; click would take as long as a query does.

As click does, we print a question mark for what the encoding of the terminal lacks, and style nothing that
goes elsewhere than to a terminal. Unlike click, we print nothing that could steer a terminal or mislead its
reader, whoever wrote it (pipeline/terminal/printable.py).
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

from crawlctl.pipeline.terminal.printable import escaped, escaped_json

_BOLD, _GREEN, _RESET = "\x1b[1m", "\x1b[32m", "\x1b[0m"


def say(line: object = "", *, err: bool = False) -> None:
    """Print a line, or several, at once; what could steer the terminal is escaped."""
    say_styled(escaped(str(line), keep="\n\t"), err=err)
    (sys.stderr if err else sys.stdout).flush()


def say_styled(line: str, *, err: bool = False) -> None:
    """Print a line whose words of strangers are harmless already, since its styles are not.

    Lines of both outputs keep their order where they go to the same place.
    """
    if err:
        with suppress(OSError):  # what is wrong with it is told where it is written
            sys.stdout.flush()
    stream = sys.stderr if err else sys.stdout
    if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="replace")
    stream.write(f"{line}\n")


def bold(text: str) -> str:
    """Return the text as a terminal shows it in bold."""
    return f"{_BOLD}{text}{_RESET}" if sys.stdout.isatty() else text


def green(text: str) -> str:
    """Return the text as a terminal shows it in green, unless the user wants no colours."""
    return f"{_GREEN}{text}{_RESET}" if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else text


def print_json(value: Any) -> None:
    """Print a record or a plain value as one JSON document, in UTF-8 wherever it goes."""
    say_json(json_of(value, indent=2))


def say_json(document: str) -> None:
    """Print a JSON document made by `json_of`."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.flush()
        sys.stdout.buffer.write(document.encode() + b"\n")
        sys.stdout.buffer.flush()
    else:
        say_styled(document)


def json_of(value: Any, indent: int | None = None) -> str:
    """Return a record or a plain value as JSON, with escapes for all but printable characters.

    It is one line, unless it is to be indented by so many blanks.
    """
    import msgspec

    try:
        document = msgspec.json.encode(value, enc_hook=str)
    except UnicodeEncodeError:  # half a character, as Python reads names of files that are not UTF-8
        import json

        return json.dumps(msgspec.to_builtins(value, enc_hook=str), indent=indent)
    return escaped_json((msgspec.json.format(document, indent=indent) if indent else document).decode())
