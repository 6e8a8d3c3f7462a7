"""Cuts a query into tokens.

Keywords are AND, OR and NOT in capitals; `&&` and `||` are other spellings. A sign (- or +) counts only right
before something that can be searched for, so that `e-mail`, `c++`, `a -> b` and `--help` have no sign. A
field is the name of a field or filter before a colon; `std::vector`, `10:30` and `http://…` are words. A
quote right behind a digit, with a space after it, is a sign for inches. A star that stands alone means all
pages.

Whether a person meant the keywords and signs is decided for the query as a whole, in meant.py.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.search.query.filters import FILTERS
from crawlctl.pipeline.search.query.tree import FIELDS, KEYWORDS
from crawlctl.pipeline.text.words.tokens import tokens as words_in

if TYPE_CHECKING:
    from collections.abc import Iterator

AND, OR, NOT = KEYWORDS
PLUS, MINUS = "+", "-"
OPEN, CLOSE = "(", ")"
FIELD = "field"
WORD, PHRASE, PREFIX, RANGE = "word", "phrase", "prefix", "range"
STAR = "*"  # a star that stands alone
BLANK = "blank"  # a token without a letter or digit to search for
END = "end"

LEAVES = frozenset({WORD, PHRASE, PREFIX, RANGE, STAR})
SIGNS = {MINUS: NOT, PLUS: PLUS}

SYMBOLS = {"&&": AND, "||": OR}  # other spellings of keywords

# the kinds of tokens that are spelt in one way only, or in a few ways
_SPELLINGS = {**dict(zip(KEYWORDS, KEYWORDS, strict=True)), **SYMBOLS, STAR: STAR}
_MAX_SHOWN = 30  # the most characters of a word that a message shows
_STRAIGHT_QUOTES = str.maketrans("“”„", '"""')
# Every character of a query belongs to one of these groups.
_GROUPS = re.compile(
    r"(?P<space>\s+)|(?P<parenthesis>[()])"
    r'|(?P<inches>(?<=[0-9])"(?=\s|$))|"(?P<quoted>[^"]*)"?'
    r'|(?P<unquoted>(?:[-+]?[Ii][Nn]:[^\s()"=]+="[^"]*"?)|[^\s()"]+)'
)
_FIELD_NAMES = {name: name for name in (*FIELDS, *FILTERS)}
_ALIASES = {
    "intitle": "title",
    "inurl": "url",
    "filetype": "type",
    "ext": "type",
    "language": "lang",
    "since": "after",
    "until": "before",
}
_FIELDS = {**_FIELD_NAMES, **_ALIASES}
_FIELD = re.compile(f"({'|'.join(_FIELDS)}):", re.IGNORECASE)
# These are compiled only when a word may be a field or a range, because few words are.
_OTHER_FIELD = r"(?!https?:|ftp:)([a-z]{2,}):(?![:/])(?=.)"
_RANGE = r"[0-9]{1,18}\.\.[0-9]{1,18}"
_OPEN_RANGE = r"[0-9]+\.\.|\.\.[0-9]+"


class Token(msgspec.Struct, frozen=True):
    """A token of the query: its kind, its text, and the index of its first character."""

    kind: str
    text: str
    at: int


class Lexer:
    """Cuts one query into tokens; `notices` collects messages about unusual tokens and how they are read."""

    def __init__(self, source: str) -> None:
        self._source = source.translate(_STRAIGHT_QUOTES)
        self.notices: list[str] = []

    def tokens(self) -> Iterator[Token]:
        """Yield the tokens, the last one being END; signs, quotes and parentheses need no spaces around."""
        before = "space"
        for group in _GROUPS.finditer(self._source):
            at, kind = group.start(), group.lastgroup
            if kind == "parenthesis":
                yield Token(group[0], group[0], at)
            elif kind == "quoted":
                yield self._quoted(group[0], group["quoted"], at)
            elif kind == "inches":
                self.notices.append('a " behind a number is read as inches and left out')
            elif kind == "unquoted":
                may_have_sign = before in ("space", OPEN)
                yield from self._unquoted(group[0], at, may_have_sign)
            before = group[0] if kind == "parenthesis" else str(kind)
        yield Token(END, "", len(self._source))

    def _quoted(self, whole: str, inside: str, at: int) -> Token:
        if len(whole) < len(inside) + 2:
            self.notices.append('a quote is not closed; read as if there were a " at the end')
        return Token(PHRASE if words_in(inside) else BLANK, inside, at)

    def _unquoted(self, text: str, at: int, may_have_sign: bool) -> Iterator[Token]:
        """Yield the signs and fields that a text begins with, and the word that remains."""
        if text.isalnum():  # nearly all words: no sign and no field in it
            yield Token(_SPELLINGS.get(text) or self._kind_of(text), text, at)
            return
        end = at + len(text)
        is_value = False
        while may_have_sign and at < end:
            field = _FIELD.match(self._source, at, end)
            if field:
                yield Token(FIELD, _FIELDS[field[1].lower()], at)
                at = field.end()
                is_value = _FIELDS[field[1].lower()] in FILTERS
            elif self._is_sign(at, end):
                yield Token(SIGNS[self._source[at]], self._source[at], at)
                at += 1
            else:
                break
        if at < end:
            rest = self._source[at:end]
            if '"' in rest:  # the value of a filter, as in in:author="donald knuth"
                yield Token(PHRASE, rest.replace('"', ""), at)
            elif is_value and words_in(rest):
                yield Token(WORD, rest, at)
            else:
                yield Token(_SPELLINGS.get(rest) or self._kind_of(rest), rest, at)

    def _is_sign(self, at: int, end: int) -> bool:
        if self._source[at] not in SIGNS:
            return False
        rest = self._source[at + 1 : end]
        if not rest:  # a quote or a parenthesis may follow directly
            return self._source[end : end + 1] not in ("", CLOSE) and not self._source[end].isspace()
        return rest[0] not in SIGNS and bool(words_in(rest))

    def _kind_of(self, text: str) -> str:
        if text.isascii() and text.isalnum():
            return WORD
        words = words_in(text)
        if not words:
            return BLANK
        if ".." in text and re.fullmatch(_RANGE, text):
            return RANGE
        if text.endswith("*") and len(words) == 1 and "*" not in text.rstrip("*"):
            return PREFIX
        self._note_oddities(text)
        return WORD

    def _note_oddities(self, text: str) -> None:
        shown = shortened(text)
        if "*" in text:
            self.notices.append(f"{shown}: a * stands only at the end of a single word; searched without it")
        elif ".." in text and re.fullmatch(_OPEN_RANGE, text):
            self.notices.append(f"{shown}: a range has two ends, as 1990..2000; searched as a word")
        field = re.match(_OTHER_FIELD, text) if ":" in text else None
        if field:
            known = ", ".join(f"{name}:" for name in _FIELD_NAMES)
            self.notices.append(
                f"{shortened(field[1])}: is no field, so searched as a word; {known} are fields"
            )


def shortened(text: str) -> str:
    """Return a part of the query as messages show it."""
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def range_of(text: str) -> tuple[int, int]:
    """Return the ends of a range, the lower one first."""
    low, _, high = text.partition("..")
    first, second = sorted((int(low), int(high)))
    return first, second
