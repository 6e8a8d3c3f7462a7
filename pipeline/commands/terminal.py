"""What a query prints with: lines, bold and green, and JSON; click would take as long as the answer does.

As click does, we print a question mark for what the encoding of the terminal lacks, and style nothing that
goes elsewhere than to a terminal.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

_BOLD, _GREEN, _RESET = "\x1b[1m", "\x1b[32m", "\x1b[0m"


def say(line: object = "", *, err: bool = False) -> None:
    """Print a line; those of both outputs keep their order where they go to the same place."""
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
    import msgspec

    document = msgspec.json.format(msgspec.json.encode(value, enc_hook=str))
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.flush()
        sys.stdout.buffer.write(document + b"\n")
        sys.stdout.buffer.flush()
    else:
        say(document.decode())
