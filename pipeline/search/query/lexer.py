"""The tokens of a query.

Keywords are AND, OR and NOT in capitals. A sign counts where it stands right before something that can be
looked for, so that neither `e-mail`, `c++`, `a -> b` nor `--help` is one. A field is one of ours before a
colon; `std::vector`, `10:30` and `http://…` are words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.search.query.tree import FIELDS
from crawlctl.pipeline.text.words.tokens import tokens as words_in

if TYPE_CHECKING:
    from collections.abc import Iterator

AND, OR, NOT, PLUS = "AND", "OR", "NOT", "+"
OPEN, CLOSE = "(", ")"
FIELD = "field"
WORD, PHRASE, PREFIX, RANGE = "word", "phrase", "prefix", "range"
BLANK = "blank"  # nothing in it to look for
END = "end"

LEAVES = frozenset({WORD, PHRASE, PREFIX, RANGE})
SITE = "site"
QUERY_FIELDS = {**{name: name for name in FIELDS}, SITE: SITE, "intitle": "title", "inurl": "url"}

_KEYWORDS = {AND: AND, OR: OR, NOT: NOT}
_MAX_SHOWN = 30  # characters of a word in a message
SIGNS = {"-": NOT, "+": PLUS}
_STRAIGHT = str.maketrans("“”„", '"""')
# Every character of a query belongs to one of these.
_PIECES = re.compile(
    r"(?P<space>\s+)|(?P<parenthesis>[()])"
    r'|"(?P<quotation>[^"]*)"?|(?P<chunk>[^\s()"]+)'
)
_FIELD = re.compile(f"({'|'.join(QUERY_FIELDS)}):", re.IGNORECASE)
# Compiled when a word looks like it might be one, for few do.
_OTHER_FIELD = r"(?!https?:|ftp:)([a-z]{2,}):(?![:/])(?=.)"
_RANGE = r"[0-9]{1,18}\.\.[0-9]{1,18}"
_OPEN_RANGE = r"[0-9]+\.\.|\.\.[0-9]+"


class Token(msgspec.Struct, frozen=True):
    """A piece of the query: its kind, what it says, and where it begins."""

    kind: str
    text: str
    at: int


class Lexer:
    """Cuts a query into tokens, the last of which is the end; `notices` say what is odd about them."""

    def __init__(self, source: str) -> None:
        self._source = source.translate(_STRAIGHT)
        self.notices: list[str] = []

    def tokens(self) -> Iterator[Token]:
        """Yield the tokens; signs, quotes and parentheses need no spaces around them."""
        before = "space"
        for piece in _PIECES.finditer(self._source):
            at, kind = piece.start(), piece.lastgroup
            if kind == "parenthesis":
                yield Token(piece[0], piece[0], at)
            elif kind == "quotation":
                yield self._quotation(piece[0], piece["quotation"], at)
            elif kind == "chunk":
                is_free = before in ("space", OPEN)
                yield from self._chunk(piece[0], at, is_free)
            before = piece[0] if kind == "parenthesis" else str(kind)
        yield Token(END, "", len(self._source))

    def _quotation(self, whole: str, inside: str, at: int) -> Token:
        if len(whole) < len(inside) + 2:
            self.notices.append('a quote is not closed; read as if there were a " at the end')
        return Token(PHRASE if words_in(inside) else BLANK, inside, at)

    def _chunk(self, chunk: str, at: int, is_free: bool) -> Iterator[Token]:
        """Yield the signs and fields that a chunk begins with, and the word that remains."""
        end = at + len(chunk)
        while is_free and at < end:
            field = _FIELD.match(self._source, at, end)
            if field:
                yield Token(FIELD, QUERY_FIELDS[field[1].lower()], at)
                at = field.end()
            elif self._is_sign(at, end):
                yield Token(SIGNS[self._source[at]], self._source[at], at)
                at += 1
            else:
                break
        if at < end:
            text = self._source[at:end]
            yield Token(_KEYWORDS.get(text) or self._kind_of(text), text, at)

    def _is_sign(self, at: int, end: int) -> bool:
        if self._source[at] not in SIGNS:
            return False
        rest = self._source[at + 1 : end]
        if not rest:  # a quotation or parenthesis may stand right behind
            return self._source[end : end + 1] not in ("", CLOSE) and not self._source[end].isspace()
        return rest[0] not in SIGNS and bool(words_in(rest))

    def _kind_of(self, text: str) -> str:
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
            self.notices.append(
                f"{shortened(field[1])}: is no field, so searched as a word; {_fields()} are fields"
            )


def shortened(text: str) -> str:
    """Return a piece of the query as messages show it."""
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def range_of(text: str) -> tuple[int, int]:
    """Return the ends of a range, the lower one first."""
    low, _, high = text.partition("..")
    first, second = sorted((int(low), int(high)))
    return first, second


def _fields() -> str:
    return ", ".join(f"{name}:" for name in (*FIELDS, SITE))
