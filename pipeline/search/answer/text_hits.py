"""Where in a text the words stand that were asked for.

The text is searched in UTF-8, lower-cased as far as ASCII goes: that takes a tenth of the time of cutting it
into words. A find is then looked at with the whole word around it. How many are looked at is bounded, so a
text may be of any size and any make.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.search.answer.needles import NumberForm, UnspacedForm, unspaced_class
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.search.answer.needles import Form, Sought

_MAX_LOOKS = 4000  # at what may be the beginning of a word
_MAX_WORDS = 200  # that begin so
_MAX_WORD_BYTES = 128
_REACH = 24  # bytes of a word and what separates it from the next, in a phrase
_WALKED_BYTES = 4 << 10  # of a text that is read word by word

# In lower case: what stands between two of all other bytes is a word, or a few where it is not ASCII.
_SPACE = 32
_REST = rb"[0-9a-z_\x80-\xff]{0,128}"
_LETTERS = b"0123456789abcdefghijklmnopqrstuvwxyz"
_JOINING = b"_" + bytes(range(128, 256))
_PIECE = re.compile(rb"[0-9a-z_\x80-\xff]{1,128}")
_NUMBER = re.compile(rb"[0-9]{1,20}(?![0-9a-z])")
# Without any of these characters there is but one mark, and no script without spaces. (Put as a set of what
# they are it would take 9 ms to compile, for Python walks through all of it.)
_FOREIGN = re.compile(r"[^\0-\u02ff](?<![\u2000-\u200b\u200e-\u2fff])")
_LATIN_WORDS = re.compile(r"[^\W_][\w\u00ad]*")
# Marks belong to the letter before them.
_MARKS = (
    r"\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u0900-\u0dff\u200c\u200d"
)


class Occurrence(msgspec.Struct, frozen=True):
    """Bytes of the text, and the number of what was sought there."""

    start: int
    end: int
    number: int


class Text:
    """A text made ready for searching."""

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8", "replace")
        self._lower = self.data.lower()

    def occurrences(self, sought: list[Sought]) -> list[Occurrence]:
        """Return where what is sought stands, in the order of the text and none within another."""
        found = [
            Occurrence(start, end, number)
            for number, one in enumerate(sought)
            for start, end in self._spans(one.forms)
        ]
        if not found and not self.data.isascii():  # forms that only folding makes equal, such as ß and ss
            found = [
                Occurrence(start, end, number)
                for number, one in enumerate(sought)
                for start, end in self._sequences(0, _WALKED_BYTES, one.forms)
            ]
        found.sort(key=lambda one: (one.start, -one.end))
        return _apart(found)

    def _spans(self, forms: tuple[Form, ...]) -> Iterator[tuple[int, int]]:
        rarest = max(forms, key=lambda form: len(form.needle))
        if not rarest.needle and not isinstance(rarest, NumberForm):
            yield from self._sequences(0, _WALKED_BYTES, forms)
            return
        places = self._runs(rarest) if isinstance(rarest, UnspacedForm) else self._words(rarest)
        if len(forms) == 1:
            yield from places
            return
        reach = _REACH * len(forms)
        others = [form.needle.encode() for form in forms if form.needle.isascii()]
        done = 0
        for start, end in places:
            first, last = max(done, start - reach), end + reach
            if all(self._lower.find(other, first, last) >= 0 for other in others):
                for span in self._sequences(first, last, forms):
                    done = span[1]
                    yield span

    def _words(self, form: Form) -> Iterator[tuple[int, int]]:
        """Yield where a word stands, found by what it begins with."""
        lower, found = self._lower, 0
        accepted: dict[bytes, bool] = {}
        for match in islice(_beginnings(form).finditer(lower), _MAX_LOOKS):
            at, end = match.span()
            before = lower[at - 1] if at else _SPACE
            if before in _LETTERS:
                continue
            word = match[0]
            if before in _JOINING or not word.isascii() or word.endswith(b"_"):
                first, last = self._piece(at)
                yield from _words_in(lower[first:last], first, form)
            else:
                if word not in accepted:
                    accepted[word] = form.accepts(word.decode())
                if accepted[word]:
                    yield at, end
            found += 1
            if found == _MAX_WORDS:
                return

    def _runs(self, form: UnspacedForm) -> Iterator[tuple[int, int]]:
        """Yield where characters stand whose script knows no words."""
        pattern = re.compile(re.escape(form.needle.encode("utf-8", "replace")))
        return (match.span() for match in islice(pattern.finditer(self._lower), _MAX_WORDS))

    def _piece(self, at: int) -> tuple[int, int]:
        """Return the bounds of what stands around a place between two ASCII separators."""
        before = self._lower[max(0, at - _MAX_WORD_BYTES) : at]
        start = at - len(before) + len(before.rstrip(_LETTERS + _JOINING))
        found = _PIECE.match(self._lower, at)
        return start, found.end() if found else at + 1

    def _sequences(self, start: int, end: int, forms: tuple[Form, ...]) -> Iterator[tuple[int, int]]:
        """Yield where the forms stand side by side in a stretch of the text."""
        words = list(_words_of(self._lower[start:end], start))
        index = 0
        while index <= len(words) - len(forms):
            window = words[index : index + len(forms)]
            if all(form.accepts(word) for form, (word, _, _) in zip(forms, window, strict=True)):
                yield _start(forms[0], window[0]), _end(forms[-1], window[-1])
                index += len(forms)
            else:
                index += 1


def _start(form: Form, word: tuple[str, int, int]) -> int:
    """Return where a form begins in a word, which may be a run of characters with others before it."""
    text, start, end = word
    if isinstance(form, UnspacedForm):
        return min(end, start + len(text[: text.find(form.needle)].encode()))
    return start


def _end(form: Form, word: tuple[str, int, int]) -> int:
    """Return where a form ends in a word."""
    text, start, end = word
    if isinstance(form, UnspacedForm):
        return min(end, start + len(text[: text.find(form.needle) + len(form.needle)].encode()))
    return end


def _words_in(piece: bytes, start: int, form: Form) -> Iterator[tuple[int, int]]:
    if piece.isascii():
        word = piece.strip(b"_")
        if form.accepts(word.decode()):
            begin = start + piece.find(word)
            yield begin, begin + len(word)
        return
    yield from ((first, last) for word, first, last in _words_of(piece, start) if form.accepts(word))


def _words_of(data: bytes, start: int) -> Iterator[tuple[str, int, int]]:
    """Yield the words of some bytes, folded, and where each stands in the text that `start` counts from."""
    skipped = 0
    while skipped < min(4, len(data)) and data[skipped] & 0xC0 == 0x80:  # cut within a character
        skipped += 1
    text = data[skipped:].decode("utf-8", "ignore")
    at, before = start + skipped, 0
    for match in _words_pattern(text).finditer(text):
        first, last = match.span()
        at += len(text[before:first].encode())
        begin, at = at, at + len(match[0].encode())
        before = last
        for word in _folded(match[0]):
            yield word, begin, at


def _folded(chunk: str) -> list[str]:
    if chunk.isascii():
        return [chunk.lower().strip("_")]
    found = tokens(chunk)
    return found if len(found) == 1 else [chunk]


def _words_pattern(text: str) -> re.Pattern[str]:
    """Return the pattern of words; that of all scripts takes as long to compile as an answer does."""
    return _words() if _FOREIGN.search(text) else _LATIN_WORDS


@lru_cache(maxsize=1)
def _words() -> re.Pattern[str]:
    unspaced = unspaced_class()
    return re.compile(f"[{unspaced}]+|[^\\W_{unspaced}](?:[\\w{_MARKS}](?<![{unspaced}]))*")


def _beginnings(form: Form) -> re.Pattern[bytes]:
    """Return the pattern of the words that may be of a form, in a text of which only ASCII is lower-cased."""
    if isinstance(form, NumberForm):
        return _NUMBER
    needle = form.needle
    ways = (needle,) if needle.isascii() else (needle, needle[0].upper() + needle[1:], needle.upper())
    spellings = dict.fromkeys(re.escape(way.encode("utf-8", "replace").lower()) for way in ways)
    beginning = b"|".join(spellings)
    return re.compile((beginning if len(spellings) == 1 else b"(?:%b)" % beginning) + _REST)


def _apart(found: list[Occurrence]) -> list[Occurrence]:
    """Return sorted occurrences without those that begin within the one before."""
    kept: list[Occurrence] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept
