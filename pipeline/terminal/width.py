"""Measures how many columns of a terminal a text takes."""

from __future__ import annotations

from unicodedata import combining, east_asian_width


def columns(text: str) -> int:
    """Return the columns of a text; wide characters, such as Chinese, take two, combining accents none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def fitting(text: str, start: int, room: int) -> int:
    """Return the end of the longest part of a text from `start` on that fits into `room` columns.

    The part has at least one character, even if that does not fit.
    """
    if text.isascii():
        return min(len(text), start + room)
    end = start
    while end < len(text) and (room := room - columns(text[end])) >= 0:
        end += 1
    return max(end, start + 1)
