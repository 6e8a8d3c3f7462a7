"""Fits text into the columns of a terminal: wraps sentences between words, cuts the middle out of a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.terminal.width import columns, fitting

if TYPE_CHECKING:
    from collections.abc import Iterator

_DOTS = "…"
_END_SHARE = 3  # the end of a cut text gets 1/3 of the room


def cut(text: str, room: int) -> str:
    """Return a text that fits into `room` columns; the middle of a longer text is left out.

    Both the beginning and the end of a host, URL or path distinguish it from others.
    """
    if columns(text) <= room:
        return text
    if room <= 1:
        return _DOTS[:room]
    end = _end(text, (room - 1) // _END_SHARE)
    start = _start(text, room - 1 - columns(end))
    return start + _DOTS + end


def wrapped(text: str, room: int, indent: str = "", *, breaks_words: bool = True) -> Iterator[str]:
    """Yield the lines of a text, broken between words; `indent` comes before all lines but the first.

    A word that is longer than a line is broken too. Without `breaks_words` it sticks out, so that a URL can
    be copied.
    """
    line = ""
    for word in text.split():
        if line.strip() and columns(line) + 1 + columns(word) > room:
            yield line
            line = indent + word
        else:
            line = f"{line} {word}" if line.strip() else line + word
        while breaks_words and columns(line) > room:
            end = fitting(line, 0, room)
            yield line[:end]
            line = indent + line[end:]
    if line.strip():
        yield line


def _start(text: str, room: int) -> str:
    end = fitting(text, 0, room) if room > 0 else 0
    return text[:end] if columns(text[:end]) <= room else ""


def _end(text: str, room: int) -> str:
    start = len(text)
    while start and columns(text[start - 1 :]) <= room:
        start -= 1
    return text[start:]
