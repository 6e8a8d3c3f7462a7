"""Reads a query into its tree: the grammar, with one method per rule.

    query     = group END
    group     = prefixed | either
    prefixed  = ( "AND" | "OR" ) signed { signed }          takes the rest of the query or parenthesis
    either    = both { "OR" both }
    both      = signed { [ "AND" ] signed }
    signed    = { "NOT" | "-" | "+" } operand
    operand   = [ field ] ( "(" group ")" | leaf )
    leaf      = word | prefix "*" | number ".." number | '"' word { word } '"' | "*"
    field     = ( "body" | "heading" | "title" | "url" | "anchor" | filter ) ":"
    filter    = "site" | "lang" | "before" | "after" | "type" | "in"

The infix form never begins with AND or OR, so the parser can tell the two forms apart. An AND or OR inside a
prefixed list is an error. Punctuation that stands alone is left out.

A query may exclude pages anywhere, as long as the whole query does not only exclude: `a (b OR NOT c)` is `a
NOT (c NOT b)`. Each rule therefore returns a node and whether pages must match it or must *not* match it.
`_both` and `_either` join these by the laws of De Morgan, so that in the tree a `Not` only takes pages away
from other pages.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.query.filters import FILTERS
from crawlctl.pipeline.search.query.lexer import (
    AND,
    BLANK,
    CLOSE,
    END,
    FIELD,
    LEAVES,
    NOT,
    OPEN,
    OR,
    PHRASE,
    PLUS,
    PREFIX,
    RANGE,
    STAR,
    WORD,
    Lexer,
    Token,
    range_of,
    shortened,
)
from crawlctl.pipeline.search.query.meant import meant
from crawlctl.pipeline.search.query.parentheses import balanced
from crawlctl.pipeline.search.query.query_errors import query_error
from crawlctl.pipeline.search.query.tree import (
    KEYWORDS,
    AllPages,
    And,
    Node,
    Not,
    Or,
    Phrase,
    Prefix,
    Query,
    Range,
    Word,
    quoted,
)
from crawlctl.pipeline.text.words.tokens import tokens as words_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.search.query.tree import Leaf

MAX_BYTES = 1 << 16  # the most bytes of a query in UTF-8
MAX_WORDS = 1000
MAX_NOTICES = 8  # the most notices shown to the user

_NOT_TYPED = r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]"  # control characters and lone surrogates
# A query with only these tokens is plain. Parentheses around words change nothing: people write them in
# questions and titles. Nor does a star beside words, as in `SELECT * FROM`.
_PLAIN = frozenset({WORD, BLANK, OPEN, CLOSE, END, STAR})
_OPERAND = "a word, a phrase in quotes or a parenthesis"


class _Match(msgspec.Struct, frozen=True):
    """The pages that match a node or, if `denied`, all other pages; `at` is its index in the query."""

    node: Node
    denied: bool
    at: int


def parse(source: str) -> Query:
    """Return the tree of a query, or raise a QueryError that shows the query with a caret at the fault."""
    if len(source) > MAX_BYTES or len(source.encode("utf-8", "replace")) > MAX_BYTES:
        raise QueryError(f"the query is longer than {MAX_BYTES >> 10} kB; ask for fewer words")
    if not source.isprintable():
        source = re.sub(_NOT_TYPED, " ", source)
    lexer = Lexer(source)
    tokens = balanced(meant(list(lexer.tokens()), lexer.notices), source, lexer.notices)
    _refuse_too_many(tokens)
    match = _Parser(source, tokens, lexer.notices).query()
    kinds = {token.kind for token in tokens}
    notices = tuple(dict.fromkeys(lexer.notices))[:MAX_NOTICES]
    return Query(match.node, WORD in kinds and kinds <= _PLAIN, notices, source)


def _refuse_too_many(tokens: Sequence[Token]) -> None:
    count = sum(len(token.text.split()) for token in tokens if token.kind in LEAVES)
    if count > MAX_WORDS:
        raise QueryError(f"the query has {count:,} words; at most {MAX_WORDS:,} can be asked for at once")


class _Parser:
    """Reads the balanced tokens of one query from left to right; each method is a rule of the grammar."""

    def __init__(self, source: str, tokens: list[Token], notices: list[str]) -> None:
        self._source = source
        self._tokens = tokens
        self._next = 0
        self._notices = notices

    def query(self) -> _Match:
        match = self._group(None)
        if self._peek().kind != END:
            raise self._expected("AND, OR or the end")
        if match.denied:
            reason = (
                "this only excludes pages, so nearly all pages match; add words that they should have, "
                "or a * for all pages, as in: * NOT word"
            )
            raise query_error(reason, self._source, match.at)
        return match

    def _group(self, field: str | None) -> _Match:
        self._skip_blanks()
        if self._peek().kind in (AND, OR):
            return self._prefixed(field)
        return self._either(field)

    def _prefixed(self, field: str | None) -> _Match:
        operator = self._take()
        parts = [self._signed(field)]
        while self._goes_on():
            parts.append(self._signed(field))
        following = self._peek()
        if following.kind in (AND, OR):
            reason = (
                f"{operator.kind} in front takes all that follows, so no {following.kind} can stand in "
                f"between; put the parts of each in parentheses"
            )
            raise query_error(reason, self._source, following.at)
        return _either(parts) if operator.kind == OR else _both(parts)

    def _either(self, field: str | None) -> _Match:
        parts = [self._both(field)]
        while self._peek().kind == OR:
            self._take()
            parts.append(self._both(field))
        return _either(parts)

    def _both(self, field: str | None) -> _Match:
        parts = [self._signed(field)]
        while self._goes_on() or self._peek().kind == AND:
            if self._peek().kind == AND:
                self._take()
            parts.append(self._signed(field))
        return _both(parts)

    def _signed(self, field: str | None) -> _Match:
        self._skip_blanks()
        at, denied = self._peek().at, False
        while self._peek().kind in (NOT, PLUS):
            denied ^= self._take().kind == NOT
        operand = self._operand(field)
        return _Match(operand.node, operand.denied ^ denied, at)

    def _operand(self, field: str | None) -> _Match:
        if self._peek().kind == FIELD:
            field = self._take().text
        token = self._peek()
        if token.kind == OPEN:
            self._take()
            inside = self._group(field)
            if self._peek().kind != CLOSE:
                raise self._expected("AND, OR or )")
            self._take()
            return inside
        if token.kind not in LEAVES:
            raise self._expected(_OPERAND)
        self._take()
        return _Match(self._leaf(token, field), False, token.at)

    def _leaf(self, token: Token, field: str | None) -> Leaf:
        if field is not None and field in FILTERS:
            try:
                return FILTERS[field].read(token.text)
            except ValueError as err:
                raise query_error(str(err), self._source, token.at) from err
        if token.kind == STAR:
            if field is not None:
                raise query_error("a * alone means all pages and takes no field", self._source, token.at)
            return AllPages()
        if token.kind == RANGE:
            return Range(*range_of(token.text), field)
        if token.kind == PREFIX:
            return Prefix(words_in(token.text)[0], field)
        words = tuple(token.text.split())
        if token.kind != PHRASE:
            return Word(words[0], field)
        return Phrase(words, field) if len(words) > 1 else quoted(words[0], field)

    def _goes_on(self) -> bool:
        """Return whether another operand follows directly, without AND or OR between."""
        self._skip_blanks()
        return self._peek().kind in LEAVES or self._peek().kind in (OPEN, FIELD, NOT, PLUS)

    def _skip_blanks(self) -> None:
        while self._peek().kind == BLANK:
            blank = self._take()
            if blank.text != "()":
                shown = shortened(blank.text.strip()) or '""'
                self._notices.append(f"{shown} has no letter or digit to search for and is left out")

    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        self._next += 1
        return self._tokens[self._next - 1]

    def _expected(self, expected: str) -> QueryError:
        token = self._peek()
        found = "the end" if token.kind == END else shortened(token.text) or '""'
        before = self._tokens[self._next - 1].text if self._next else ""
        behind = f" behind {before}" if before in (*KEYWORDS, OPEN) else ""
        hint = f'; to search for the word, put it in quotes: "{found}"' if token.kind in KEYWORDS else ""
        return query_error(f"expected {expected}{behind}, found {found}{hint}", self._source, token.at)


def _both(parts: list[_Match]) -> _Match:
    """Return the pages that match all parts; if all parts are denied, the whole denies pages of any part."""
    if len(parts) == 1:
        return parts[0]
    wanted = [part.node for part in parts if not part.denied]
    unwanted = [part.node for part in parts if part.denied]
    if not wanted:
        return _Match(_or(unwanted), True, parts[0].at)
    return _Match(_and([*wanted, *map(Not, unwanted)]), False, parts[0].at)


def _either(parts: list[_Match]) -> _Match:
    """Return the pages that match any part.

    If any part is denied, the whole is denied too: `a OR NOT b OR NOT c` excludes the pages that have both b
    and c, but not a.
    """
    if len(parts) == 1:
        return parts[0]
    wanted = [part.node for part in parts if not part.denied]
    denials = [part for part in parts if part.denied]
    if not denials:
        return _Match(_or(wanted), False, parts[0].at)
    denied = [*(part.node for part in denials), *map(Not, wanted)]
    return _Match(_and(denied), True, denials[0].at)


def _and(parts: Sequence[Node]) -> Node:
    """Return the And of the parts, without an And directly inside it and with the `Not`s at the end.

    `AllPages` beside a part that is not a `Not` is left out: it changes nothing.
    """
    flat: list[Node] = []
    for part in parts:
        flat += part.parts if isinstance(part, And) else (part,)
    wanted: list[Node] = [part for part in flat if not isinstance(part, (Not, AllPages))]
    joined = (*(wanted or [AllPages()]), *(part for part in flat if isinstance(part, Not)))
    return And(joined) if len(joined) > 1 else joined[0]


def _or(parts: Sequence[Node]) -> Node:
    """Return the Or of the parts, without an Or directly inside it."""
    flat: list[Node] = []
    for part in parts:
        flat += part.parts if isinstance(part, Or) else (part,)
    return Or(tuple(flat)) if len(flat) > 1 else flat[0]
