"""Columns of a terminal: how many a text takes, and how many the terminal has."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from typing import TextIO

DEFAULT_COLUMNS = 80  # used if the output is not a terminal
_FEWEST_COLUMNS = 20  # narrower terminals are treated as this wide, and break the lines themselves


def columns(text: str) -> int:
    """Return the columns of a text; wide characters, such as Chinese, take two, combining accents none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def fitting(text: str, start: int, room: int) -> int:
    """Return how far a text can be shown: the index behind the last character that fits.

    The text is shown from the index `start` on, in `room` columns; at least one character is, even if it does
    not fit.
    """
    if text.isascii():
        return min(len(text), start + room)
    end = start
    while end < len(text) and (room := room - columns(text[end])) >= 0:
        end += 1
    return max(end, start + 1)


def output_width(stream: TextIO | None = None) -> int | None:
    """Return the columns of $COLUMNS or of the terminal; None if the output goes to a file or a pipe.

    The default for the stream is standard output.
    """
    given = os.environ.get("COLUMNS", "")
    found = int(given) if given.isdecimal() else 0
    with suppress(OSError, ValueError):
        found = found or os.get_terminal_size((stream or sys.stdout).fileno()).columns
    return max(_FEWEST_COLUMNS, found) if found else None


def output_columns(stream: TextIO | None = None) -> int:
    """Return the columns of the output, for text that fits into 80 columns even in a file."""
    return output_width(stream) or DEFAULT_COLUMNS
