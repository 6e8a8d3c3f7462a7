"""Makes snippets: the part of a page that best shows why the page was found.

The words of the query are marked in it. A snippet is one excerpt of the text, or up to four shorter ones if
no single excerpt has all the words. It begins with a sentence if one begins near by, and never inside a
word. Marks are spans of characters; how they look is decided by the code that prints them. To change the
length of snippets, change SNIPPET_BYTES.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.search.answer.needles import needles_of
from crawlctl.pipeline.search.answer.text_hits import SearchedText

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawlctl.pipeline.search.answer.needles import Needle
    from crawlctl.pipeline.search.answer.text_hits import Occurrence
    from crawlctl.pipeline.search.query.tree import Node

SNIPPET_BYTES = 240  # the length of a snippet, in bytes of UTF-8: about three lines of a terminal
# excerpts per snippet; with 2, one hit in 17 of natural queries did not show a word that the page has
MAX_EXCERPTS = 4
ELLIPSIS = "…"

_LEAD_BYTES = 60  # bytes of text before the first marked word, so that it can be understood
_EDGE_BYTES = 30  # the end moves by at most this many bytes to the end of a word
_MAX_UNSPACED_BYTES = 64  # bytes; if they hold no space, the text is cut between two characters

_BODY_FIELDS = ("body", "heading")
_TITLE_FIELDS = ("title",)
_OPEN, _CLOSE = b"\x02", b"\x03"  # stand around a marked word while a line is put together
_SIGNS = _OPEN + _CLOSE
_SIGN = re.compile("[\x02\x03]")
_CUT_BEFORE, _CUT_BETWEEN, _CUT_BEHIND = (cut.format(ELLIPSIS).encode() for cut in ("{} ", " {} ", " {}"))
_UNSHOWN = ("\u00b6", "\uf0c1")  # the sign that site themes put behind a heading, as a link to it
_SPACE = re.compile(rb"\s")
_SENTENCE = re.compile(rb"(?:[.!?:]\s+|\n\s*)(?=\S)")


class MarkedText(msgspec.Struct, frozen=True):
    """A text in one line, and the spans of its characters that match the query and are to be marked."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()


class Marker:
    """Marks the words of one query in titles and texts; the needles are made once for each language."""

    def __init__(self, tree: Node) -> None:
        self._tree = tree
        self._known: dict[tuple[str, tuple[str, ...]], tuple[Needle, ...]] = {}

    def snippet(self, text: bytes, language: str = "", length: int = SNIPPET_BYTES) -> MarkedText:
        """Return about `length` bytes of a text: the part that best shows how it matches the query."""
        return self.located_snippet(text, language, length)[0]

    def located_snippet(
        self, text: bytes, language: str = "", length: int = SNIPPET_BYTES
    ) -> tuple[MarkedText, int | None]:
        """Return a snippet, and the offset of the first marked word; None if no word is marked.

        The text is in UTF-8, and the offset in bytes.
        """
        found = SearchedText(text).occurrences(self._needles(language, _BODY_FIELDS))
        if not found:
            return _joined(text, [(0, min(length, len(text)))], []), None
        parts = _parts(found, length)
        excerpts = _merged(sorted(_around(text, part, length // len(parts)) for part in parts))
        start, end = excerpts[0]
        first = next(one.start for one in found if start <= one.start and one.end <= end)
        return _joined(text, excerpts, found), first

    def title(self, title: str, language: str = "") -> MarkedText:
        """Return a whole title with the words of the query marked."""
        data = title.encode("utf-8", "replace")
        found = SearchedText(data).occurrences(self._needles(language, _TITLE_FIELDS))
        return _joined(data, [(0, len(data))], found)

    def _needles(self, language: str, fields: tuple[str, ...]) -> tuple[Needle, ...]:
        key = language, fields
        if key not in self._known:
            self._known[key] = needles_of(self._tree, language, fields)
        return self._known[key]


def _parts(found: list[Occurrence], length: int) -> list[list[Occurrence]]:
    """Return the occurrences that each excerpt shows, with the fewest excerpts that show all needles."""
    weights = _weights(found)
    parts: list[list[Occurrence]] = []
    for count in range(1, MAX_EXCERPTS + 1):
        parts, missing = [], frozenset(weights)
        while missing and len(parts) < count:
            parts.append(_best(found, weights, length // count, missing))
            missing -= {occurrence.needle for occurrence in parts[-1]}
        if not missing:
            break
    return parts


def _weights(found: list[Occurrence]) -> dict[int, float]:
    """Return the weight of each needle in a snippet: greater if the needle is rare in the text."""
    counts: dict[int, int] = {}
    for occurrence in found:
        counts[occurrence.needle] = counts.get(occurrence.needle, 0) + 1
    return {needle: 1 + 1 / count for needle, count in counts.items()}


def _best(
    found: list[Occurrence], weights: dict[int, float], length: int, wanted: Collection[int]
) -> list[Occurrence]:
    """Return the consecutive occurrences within `length` bytes with most weight; the earliest, if equal.

    The first occurrence of a needle counts its whole weight, each further occurrence less. Needles that are
    not in `wanted` count 0.
    """
    best, best_score = (0, 1), -1.0
    first, score, room = 0, 0.0, length - _EDGE_BYTES
    counts = dict.fromkeys(weights, 0)
    for last, occurrence in enumerate(found):
        needle = occurrence.needle
        if needle in wanted:
            counts[needle] = count = counts[needle] + 1
            score += weights[needle] if count == 1 else 0.1 / count
        while occurrence.end - found[first].start > room and first < last:
            dropped = found[first].needle
            first += 1
            if dropped in wanted:
                count = counts[dropped]
                score -= weights[dropped] if count == 1 else 0.1 / count
                counts[dropped] = count - 1
        if score > best_score + 1e-9:
            best, best_score = (first, last + 1), score
    return found[best[0] : best[1]]


def _around(data: bytes, part: list[Occurrence], length: int) -> tuple[int, int]:
    """Return the start and end of the excerpt that shows some occurrences."""
    start, end = part[0].start, part[-1].end
    room = max(0, length - (end - start))
    start = _start_near(data, max(0, start - min(_LEAD_BYTES, room)), start)
    return start, _end_near(data, max(end, min(len(data), start + length)), end)


def _start_near(data: bytes, at: int, latest: int) -> int:
    """Return an offset from `at` to `latest` where a sentence begins or, if there is none, a word."""
    if at == 0:
        return 0
    sentence = _SENTENCE.search(data, max(0, at - 2), latest)
    if sentence:
        return sentence.end()
    space = _SPACE.search(data, at, latest)
    return space.end() if space else _whole(data, max(at, latest - _MAX_UNSPACED_BYTES))


def _end_near(data: bytes, at: int, earliest: int) -> int:
    """Return where a word ends near `at`, and not before `earliest`."""
    if at >= len(data) or data[at : at + 1].isspace():
        return min(at, len(data))
    low = max(earliest, at - _EDGE_BYTES)
    cut = max(data.rfind(b" ", low, at), data.rfind(b"\n", low, at))
    return cut if cut >= low else max(earliest, _whole(data, at))


def _whole(data: bytes, at: int) -> int:
    """Return the offset of the first byte of the character at `at`."""
    while 0 < at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _merged(excerpts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return excerpts in rising order; excerpts that touch are joined into one."""
    merged = excerpts[:1]
    for start, end in excerpts[1:]:
        first_start, first_end = merged[-1]
        if start <= first_end + 1:
            merged[-1] = first_start, max(first_end, end)
        else:
            merged.append((start, end))
    return merged


def _joined(data: bytes, excerpts: list[tuple[int, int]], found: list[Occurrence]) -> MarkedText:
    """Return the excerpts as one line, with an ellipsis wherever text was left out.

    The words are marked by two characters while the line is put together, so that it is decoded and its white
    space is made single blanks in one go.
    """
    pieces: list[bytes] = []
    for number, (start, end) in enumerate(excerpts):
        if start > 0 or number:
            pieces.append(_CUT_BEFORE if not number else _CUT_BETWEEN)
        pieces += _pieces(data, start, end, found)
    if excerpts[-1][1] < len(data) and not data[excerpts[-1][1] :].isspace():
        pieces.append(_CUT_BEHIND)
    line = b"".join(pieces).decode("utf-8", "ignore")
    for sign in _UNSHOWN:
        line = line.replace(sign, "")
    return _marked(" ".join(line.split()))


def _pieces(data: bytes, start: int, end: int, found: list[Occurrence]) -> list[bytes]:
    """Return an excerpt in pieces, with the two characters around each of its words."""
    pieces: list[bytes] = []
    at = start
    if not found:
        return [data[start:end].translate(None, _SIGNS)]
    for index in range(bisect_left(found, start, key=_start), len(found)):
        occurrence = found[index]
        if occurrence.end > end:
            break
        pieces += (data[at : occurrence.start], _OPEN, data[occurrence.start : occurrence.end], _CLOSE)
        at = occurrence.end
    pieces.append(data[at:end])
    if any(sign in piece for piece in pieces[::2] for sign in (_OPEN, _CLOSE)):  # the page has them itself
        pieces[::2] = [piece.translate(None, _SIGNS) for piece in pieces[::2]]
    return pieces


def _marked(line: str) -> MarkedText:
    """Return a line with the signs around its marked words taken out, and where these were."""
    if _OPEN.decode() not in line:
        return MarkedText(line)
    parts = _SIGN.split(line)
    ends = list(accumulate(map(len, parts)))
    return MarkedText("".join(parts), tuple(zip(ends[:-1:2], ends[1::2], strict=True)))


def _start(occurrence: Occurrence) -> int:
    return occurrence.start
