"""Finds the words of a query in the text of a page.

The text is searched in UTF-8, with ASCII letters in lower case: that takes a tenth of the time of cutting it
into words. Then the whole word around each find is checked. The number of checks is limited, so a text may
have any size and any contents.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.search.answer.needles import NumberForm, UnspacedForm, unspaced_class
from crawlctl.pipeline.text.words.tokens import parts_of, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.search.answer.needles import Form, Needle

_MAX_LOOKS = 4000  # how many finds are checked per word of the query
_MAX_WORDS = 200  # how many words are checked per word of the query
_MAX_WORD_BYTES = 128
_REACH = 24  # in a phrase: the most bytes of a word and of the characters between it and the next word
_WALKED_BYTES = 4 << 10  # the bytes at the beginning of a text that may be read word by word

# A chunk is the bytes between two ASCII separators: a word or, where it is not ASCII, perhaps several words.
_SPACE = 32
_SHORT = 2  # a literal of so few bytes stands in many words: it is looked for by a pattern
_REST = re.compile(rb"[0-9a-z_\x80-\xff]{0,128}")
_LETTERS = b"0123456789abcdefghijklmnopqrstuvwxyz"
_JOINING = b"_" + bytes(range(128, 256))
_WITHIN = _LETTERS + _JOINING  # bytes that end no word
_IS_WITHIN = bytes(byte in _WITHIN for byte in range(256))
_IS_LETTER = bytes(byte in _LETTERS for byte in range(256))
_CHUNK = re.compile(rb"[0-9a-z_\x80-\xff]{1,128}")
_NUMBER = re.compile(rb"[0-9]{1,20}(?![0-9a-z])")
# A text without any of these characters has no marks but U+00AD and no script without spaces. (A set of the
# marks and scripts themselves would take 9 ms to compile, because Python walks through all of it.)
_FOREIGN = re.compile(r"[^\0-\u02ff](?<![\u2000-\u200b\u200e-\u2fff])")
# A character that folding may change: a word with it can be equal to one of other letters, such as ß and ss.
# It is any that is neither ASCII nor a dash, a quote, a sign or an arrow.
_FOLDING = re.compile(
    r"[^\0-\x7f\u00a0-\u00a9\u00ab\u00ac\u00ae-\u00b1\u00b4\u00b6\u00b8\u00bb\u00bf\u00d7\u00f7"
    r"\u2000-\u200b\u200e-\u206f\u2190-\u2bff]"
)
_LATIN_WORDS = re.compile(r"[^\W_][\w\u00ad]*")
# Within a Latin word: a letter that may have an accent, a combining mark, a ligature, or a soft hyphen.
# It begins with a set of bytes, which Python looks for many times faster than for one of several patterns.
_ACCENTED = re.compile(
    rb"[\xc2-\xc9\xcc\xcd\xe1\xef]"
    rb"(?:(?<=[\xc3-\xc9\xcc\xcd])|(?<=\xe1)[\xb8-\xbb]|(?<=\xef)\xac|(?<=\xc2)\xad)"
    rb"[0-9a-z_\x80-\xff]{0,126}"  # and the rest of the word
)
# The first bytes of such letters; the last is a soft hyphen.
_ACCENTS = (*(bytes((byte,)) for byte in (*range(0xC3, 0xCA), 0xCC, 0xCD, 0xE1, 0xEF)), b"\xc2\xad")
# Combining marks, which belong to the letter before them.
_MARKS = (
    r"\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u0900-\u0dff\u200c\u200d"
)


class Occurrence(msgspec.Struct, frozen=True, gc=False):
    """A range of bytes of the text in which a needle was found, and the index of the needle."""

    start: int
    end: int
    needle: int


class SearchedText:
    """A text in UTF-8, as it is and in lower case."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._lower = data.lower() + b" "  # [-1] is before the first word
        self._accented_at: list[tuple[int, int]] | None = None  # None: nobody has looked

    def occurrences(self, needles: Sequence[Needle]) -> list[Occurrence]:
        """Return where the needles stand, in the order of the text; none overlaps another."""
        found = [self._spans(needle.forms) or self._accented(needle.forms) for needle in needles]
        if not any(found) and self._may_be_folded():
            words = list(_words_of(self._lower[:_WALKED_BYTES], 0))
            found = [list(_side_by_side(words, needle.forms)) for needle in needles]
        having = [(index, spans) for index, spans in enumerate(found) if spans]
        every = [(start, -end, index) for index, spans in having for start, end in spans]
        return _apart(sorted(every) if len(having) > 1 else every)

    def _may_be_folded(self) -> bool:
        """Return whether folding may change a character at the beginning of the text."""
        beginning = self.data[: 4 * _WALKED_BYTES]  # a character has at most 4 bytes
        text = "" if beginning.isascii() else beginning.decode("utf-8", "ignore")
        return _FOLDING.search(text, 0, _WALKED_BYTES) is not None

    def _spans(self, forms: tuple[Form, ...]) -> list[tuple[int, int]]:
        rarest = max(forms, key=_literal_length) if len(forms) > 1 else forms[0]
        if not rarest.literal and not isinstance(rarest, NumberForm):
            return list(self._in_range(0, _WALKED_BYTES, forms))
        if isinstance(rarest, UnspacedForm):
            spans = self._unspaced(rarest)
        elif rarest.literal and rarest.literal.isascii():
            spans = self._ascii_words(rarest)
        else:
            spans = list(self._words(rarest))
        return spans if len(forms) == 1 else list(self._phrases(spans, forms))

    def _accented(self, forms: tuple[Form, ...]) -> list[tuple[int, int]]:
        """Return where a word that was typed without accents stands with them."""
        form = forms[0]
        if len(forms) > 1 or not form.literal or not form.literal.isascii():
            return []
        chunks = self._accented_chunks()
        first, lower, found = ord(form.literal[0].lower()), self._lower, list[tuple[int, int]]()
        near = [chunk for chunk in chunks if lower[chunk[0]] == first or lower[chunk[0]] >= 128]
        for start, end in near[:_MAX_WORDS]:
            found += _spans_at(start, lower[start:end], form)
        return found

    def _accented_chunks(self) -> list[tuple[int, int]]:
        """Return the chunks with a letter that may have an accent; they are found once for all needles."""
        if self._accented_at is None:
            self._accented_at = list(self._find_accents()) if self._has_accents() else []
        return self._accented_at

    def _find_accents(self) -> Iterator[tuple[int, int]]:
        lower = self._lower
        for match in islice(_ACCENTED.finditer(lower), _MAX_LOOKS):
            at, end = match.span()
            before = lower[max(0, at - _MAX_WORD_BYTES) : at]
            yield at - len(before) + len(before.rstrip(_WITHIN)), end

    def _has_accents(self) -> bool:
        """Return whether a word of the text may have an accent; most English texts have none."""
        return not self.data.isascii() and any(byte in self.data for byte in _ACCENTS)

    def _phrases(self, spans: list[tuple[int, int]], forms: tuple[Form, ...]) -> Iterator[tuple[int, int]]:
        """Yield where the forms stand side by side, given where one of them stands."""
        reach = _REACH * len(forms)
        others = [form.literal.encode() for form in forms if form.literal.isascii()]
        done = 0
        for start, end in spans:
            first, last = max(done, start - reach), end + reach
            if all(self._lower.find(other, first, last) >= 0 for other in others):
                for span in self._in_range(first, last, forms):
                    done = span[1]
                    yield span

    def _ascii_words(self, form: Form) -> list[tuple[int, int]]:
        """Return where a word that begins with ASCII occurs; the text is searched for its first letters.

        This is most of the time of an answer. Most finds are whole words in small letters, and are judged by
        the bytes around them and by what is known of the word.
        """
        data, lower, known = self.data, self._lower, form.known
        checked, found = 0, list[tuple[int, int]]()
        for at, end in islice(_ascii_finds(lower, form.literal.lower().encode()), _MAX_LOOKS):
            before = lower[at - 1]
            if _IS_LETTER[before] and data[at] == lower[at]:  # within a word, but for humps
                continue
            word = lower[at:end]
            if not _IS_WITHIN[before] and word in known and data.startswith(word[1:], at + 1):
                if known[word]:
                    found.append((at, end))
            else:
                found += self._judged(form, at, end)
            checked += 1
            if checked == _MAX_WORDS:
                break
        return found

    def _judged(self, form: Form, at: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the spans of a form at a find, which is a new word or a part of an identifier."""
        lower, word = self._lower, self._lower[at:end]
        if word not in form.known and word.isascii() and b"_" not in word:
            form.know(word)
        is_whole = not _IS_WITHIN[lower[at - 1]] and self.data.startswith(word[1:], at + 1)
        if word in form.known and is_whole:
            if form.known[word]:
                yield at, end
        else:
            first, last = self._chunk_at(at)
            yield from _spans_at(first, self.data[first:last], form)

    def _words(self, form: Form) -> Iterator[tuple[int, int]]:
        """Yield where a number or a word of another script stands."""
        lower, found = self._lower, 0
        for at, end in islice(_finds(lower, form), _MAX_LOOKS):
            if _IS_LETTER[lower[at - 1]] and self.data[at] == lower[at]:
                continue
            yield from self._judged(form, at, end)
            found += 1
            if found == _MAX_WORDS:
                return

    def _unspaced(self, form: UnspacedForm) -> list[tuple[int, int]]:
        """Return where characters of a script without spaces stand."""
        pattern = re.compile(re.escape(form.literal.encode("utf-8", "replace")))
        return [match.span() for match in islice(pattern.finditer(self._lower), _MAX_WORDS)]

    def _chunk_at(self, at: int) -> tuple[int, int]:
        """Return the start and the end of the chunk around an offset."""
        before = self._lower[max(0, at - _MAX_WORD_BYTES) : at]
        start = at - len(before) + len(before.rstrip(_WITHIN))
        found = _CHUNK.match(self._lower, at)
        return start, found.end() if found else at + 1

    def _in_range(self, start: int, end: int, forms: tuple[Form, ...]) -> Iterator[tuple[int, int]]:
        """Yield where the forms stand side by side in a range of the text."""
        return _side_by_side(list(_words_of(self._lower[start:end], start)), forms)


def _side_by_side(words: list[tuple[str, int, int]], forms: tuple[Form, ...]) -> Iterator[tuple[int, int]]:
    """Yield where the forms stand side by side in a list of words, each with its start and end."""
    first, accepted, index = forms[0], dict[str, bool](), 0
    while index <= len(words) - len(forms):
        word = words[index][0]
        if word not in accepted:
            accepted[word] = first.accepts(word)
        window = words[index : index + len(forms)] if accepted[word] else []
        if window and all(form.accepts(one[0]) for form, one in zip(forms[1:], window[1:], strict=True)):
            yield _start(first, window[0]), _end(forms[-1], window[-1])
            index += len(forms)
        else:
            index += 1


def _start(form: Form, word: tuple[str, int, int]) -> int:
    """Return where a form begins in a word; without spaces, other characters may come before it."""
    text, start, end = word
    if isinstance(form, UnspacedForm):
        return min(end, start + len(text[: text.find(form.literal)].encode()))
    return start


def _end(form: Form, word: tuple[str, int, int]) -> int:
    """Return where a form ends in a word."""
    text, start, end = word
    if isinstance(form, UnspacedForm):
        return min(end, start + len(text[: text.find(form.literal) + len(form.literal)].encode()))
    return end


def _spans_at(at: int, chunk: bytes, form: Form) -> list[tuple[int, int]]:
    """Return where a form stands in the chunk at an offset; chunks that were judged lately are remembered."""
    spans = form.spans.get(chunk)
    if spans is None:
        spans = form.remember(chunk, list(_words_in(chunk, form)))
    return [(at + start, at + end) for start, end in spans] if spans else spans


def _words_in(chunk: bytes, form: Form) -> Iterator[tuple[int, int]]:
    """Yield where a form stands in a chunk, as it is written: as a word, or as a part of an identifier."""
    lower = chunk.lower()
    if not chunk.isascii():
        yield from ((first, last) for word, first, last in _words_of(lower, 0) if form.accepts(word))
        return
    whole = lower.strip(b"_").decode()
    at = 0
    for part in (whole,) if form.accepts(whole) else parts_of(chunk):
        at = lower.index(part.encode(), at)
        if form.accepts(part):
            yield at, at + len(part)
        at += len(part)


def _words_of(data: bytes, start: int) -> Iterator[tuple[str, int, int]]:
    """Yield the folded words of the bytes at `start` of a text, each with its start and end in the text."""
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
    """Return the pattern of words; the pattern for all scripts compiles as slowly as a whole answer."""
    return _words() if _FOREIGN.search(text) else _LATIN_WORDS


@lru_cache(maxsize=1)
def _words() -> re.Pattern[str]:
    unspaced = unspaced_class()
    return re.compile(f"[{unspaced}]+|[^\\W_{unspaced}](?:[\\w{_MARKS}](?<![{unspaced}]))*")


def _ascii_finds(lower: bytes, literal: bytes) -> Iterator[tuple[int, int]]:
    """Yield where a literal stands in a text in lower case, each with the end of the word around it."""
    if len(literal) <= _SHORT:
        yield from (match.span() for match in _beginning_with(literal).finditer(lower))
        return
    find, rest, size, at = lower.find, _REST.match, len(literal), lower.find(literal)
    while at >= 0:
        end = at + size
        if _IS_WITHIN[lower[end]] and (match := rest(lower, end)):
            end = match.end()
        yield at, end
        at = find(literal, end)


@lru_cache(maxsize=256)
def _beginning_with(literal: bytes) -> re.Pattern[bytes]:
    """Return the pattern of a literal and the rest of its word; to compile one takes 30 µs."""
    return re.compile(re.escape(literal) + _REST.pattern)


def _finds(lower: bytes, form: Form) -> Iterator[tuple[int, int]]:
    """Yield where numbers, or words that do not begin with ASCII, stand in a text in lower case."""
    pattern = _NUMBER if isinstance(form, NumberForm) else _spellings(form.literal)
    return (match.span() for match in pattern.finditer(lower))


@lru_cache(maxsize=256)
def _spellings(text: str) -> re.Pattern[bytes]:
    """Return the pattern of words that begin with a text which is not ASCII, in any case."""
    cases = (text, text[0].upper() + text[1:], text.upper())
    spellings = dict.fromkeys(re.escape(case.encode("utf-8", "replace").lower()) for case in cases)
    return re.compile(b"(?:%b)" % b"|".join(spellings) + _REST.pattern)


def _literal_length(form: Form) -> int:
    return len(form.literal)


def _apart(found: Iterable[tuple[int, int, int]]) -> list[Occurrence]:
    """Return occurrences without any that begins inside the previous one.

    Each is given as start, negative end and needle, sorted: of occurrences that begin at the same byte, the
    longest comes first.
    """
    kept: list[Occurrence] = []
    last = 0
    for start, end, needle in found:
        if start >= last or not kept:
            last = -end
            kept.append(Occurrence(start, last, needle))
    return kept
