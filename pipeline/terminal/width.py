"""How many columns of a terminal a text takes."""

from __future__ import annotations

from unicodedata import combining, east_asian_width


def columns(text: str) -> int:
    """Return the columns of a text: Chinese and its like take two a character, accents none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)


def fitting(text: str, start: int, room: int) -> int:
    """Return the end of the longest part of a text, from `start` on, that takes no more columns than that."""
    if text.isascii():
        return min(len(text), start + room)
    end = start
    while end < len(text) and (room := room - columns(text[end])) >= 0:
        end += 1
    return max(end, start + 1)
