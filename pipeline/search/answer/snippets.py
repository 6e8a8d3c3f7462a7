"""The part of a page that shows best why it was found, with the words that were asked for marked.

A snippet is one stretch of the text, or two where no one stretch has all the words. It begins with a sentence
where one begins near by, and never within a word. What is marked are spans of characters; how that looks is
up to whoever prints it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.search.answer.needles import sought_in
from crawlctl.pipeline.search.answer.text_hits import Text

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawlctl.pipeline.search.answer.text_hits import Occurrence
    from crawlctl.pipeline.search.query.tree import Node

WIDTH = 240  # bytes of text, about three lines of a terminal
ELLIPSIS = "…"

_LEAD = 60  # bytes before the first word, to be understood by
_EDGE = 30  # bytes to go to the end of a word or the beginning of a sentence
_LONGEST_RUN = 64  # bytes without a space; scripts that have none are cut between two characters

_BODY_FIELDS = ("body", "heading")
_TITLE_FIELDS = ("title",)
_SPACES = re.compile(r"\s+")
_SPACE = re.compile(rb"\s")
_SENTENCE = re.compile(rb"(?:[.!?:]\s+|\n\s*)(?=\S)")


class Snippet(NamedTuple):
    """A text in one line, and the spans in it that were asked for."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()


def snippet(text: str, tree: Node, language: str = "", width: int = WIDTH) -> Snippet:
    """Return the part of a text that shows best how it matches a query."""
    ready = Text(text)
    found = ready.occurrences(sought_in(tree, language, _BODY_FIELDS))
    if not found:
        return _joined(ready.data, [(0, min(width, len(ready.data)))], [])
    weights = _weights(found)
    best = _best(found, weights, width, frozenset(weights))
    missing = frozenset(weights) - {one.number for one in best}
    if not missing:
        return _joined(ready.data, [_around(ready.data, best, width)], found)
    first = _best(found, weights, width // 2, frozenset(weights))
    missing = frozenset(weights) - {one.number for one in first}
    second = _best(found, weights, width // 2, missing)
    stretches = sorted(_around(ready.data, part, width // 2) for part in (first, second))
    return _joined(ready.data, _merged(stretches), found)


def marked_title(title: str, tree: Node, language: str = "") -> Snippet:
    """Return a whole title with what was asked for marked."""
    ready = Text(title)
    found = ready.occurrences(sought_in(tree, language, _TITLE_FIELDS))
    return _joined(ready.data, [(0, len(ready.data))], found)


def _weights(found: list[Occurrence]) -> dict[int, float]:
    """Return what each thing sought is worth in a snippet: more if the text has it seldom."""
    counts: dict[int, int] = {}
    for one in found:
        counts[one.number] = counts.get(one.number, 0) + 1
    return {number: 1 + 1 / count for number, count in counts.items()}


def _best(
    found: list[Occurrence], weights: dict[int, float], width: int, wanted: Collection[int]
) -> list[Occurrence]:
    """Return the occurrences within some width that have most of what is wanted, the first of equals."""
    best, best_score = (0, 1), -1.0
    first, score = 0, 0.0
    counts = dict.fromkeys(weights, 0)
    for last, one in enumerate(found):
        counts[one.number] += 1
        score += _worth(one, weights, wanted, counts[one.number])
        while one.end - found[first].start > width - _EDGE and first < last:
            score -= _worth(found[first], weights, wanted, counts[found[first].number])
            counts[found[first].number] -= 1
            first += 1
        if score > best_score + 1e-9:
            best, best_score = (first, last + 1), score
    return found[best[0] : best[1]]


def _worth(one: Occurrence, weights: dict[int, float], wanted: Collection[int], count: int) -> float:
    """Return what the count-th occurrence adds: all at first, then little, and less each time."""
    if one.number not in wanted:
        return 0.0
    return weights[one.number] if count == 1 else 0.1 / count


def _around(data: bytes, part: list[Occurrence], width: int) -> tuple[int, int]:
    """Return the stretch of the text to show for some occurrences."""
    start, end = part[0].start, part[-1].end
    room = max(0, width - (end - start))
    start = _start_near(data, max(0, start - min(_LEAD, room)), start)
    return start, _end_near(data, max(end, min(len(data), start + width)), end)


def _start_near(data: bytes, at: int, latest: int) -> int:
    """Return where a sentence, or else a word, begins between two places."""
    if at == 0:
        return 0
    sentence = _SENTENCE.search(data, max(0, at - 2), latest)
    if sentence:
        return sentence.end()
    space = _SPACE.search(data, at, latest)
    return space.end() if space else _whole(data, max(at, latest - _LONGEST_RUN))


def _end_near(data: bytes, at: int, earliest: int) -> int:
    """Return where a word ends, not before the earliest place."""
    if at >= len(data) or data[at : at + 1].isspace():
        return min(at, len(data))
    low = max(earliest, at - _EDGE)
    cut = max(data.rfind(b" ", low, at), data.rfind(b"\n", low, at))
    return cut if cut >= low else max(earliest, _whole(data, at))


def _whole(data: bytes, at: int) -> int:
    """Return the beginning of the character at a place."""
    while 0 < at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _merged(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    (first_start, first_end), (start, end) = stretches
    return [(first_start, max(first_end, end))] if start <= first_end + 1 else stretches


def _joined(data: bytes, stretches: list[tuple[int, int]], found: list[Occurrence]) -> Snippet:
    """Return the stretches as one line, with an ellipsis wherever text was left out."""
    line = _Line()
    for number, (start, end) in enumerate(stretches):
        if start > 0 or number:
            line.add(f"{ELLIPSIS} " if not number else f" {ELLIPSIS} ")
        at = start
        for one in found:
            if start <= one.start and one.end <= end:
                line.add(_text(data, at, one.start))
                line.add(_text(data, one.start, one.end), is_marked=True)
                at = one.end
        line.add(_text(data, at, end))
    if stretches[-1][1] < len(data.rstrip()):
        line.add(f" {ELLIPSIS}")
    return line.snippet()


class _Line:
    """A text that is put together, its white space as single spaces."""

    def __init__(self) -> None:
        self._text = ""
        self._spans: list[tuple[int, int]] = []

    def add(self, text: str, is_marked: bool = False) -> None:
        """Add a piece of text."""
        text = _SPACES.sub(" ", text)
        if self._text.endswith(" ") or not self._text:
            text = text.lstrip()
        if is_marked and text:
            self._spans.append((len(self._text), len(self._text) + len(text)))
        self._text += text

    def snippet(self) -> Snippet:
        """Return all that was added."""
        return Snippet(self._text.rstrip(), tuple(self._spans))


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "ignore")
