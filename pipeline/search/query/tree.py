"""The tree that a query is read into: one class per operator, beside the filters of filters.py.

A node knows the nodes inside it (`parts`) and how a person would write it (`infix`), so that a query can be
printed again; what is printed parses to the same tree. How to add an operator: search/__init__.py.

Words are as the user typed them; the planner cuts them into tokens and looks up their terms. The parser makes
sure that a `Not` stands only in an `And` beside a part that is not a `Not`, that neither `And` nor `Or` has a
part of its own kind or fewer than two parts, that `AllPages` stands in an `And` only beside `Not`s, and that
every word has a letter or a digit.
"""

from __future__ import annotations

import re
from typing import TypeAlias

import msgspec

from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.search.query.filters import AnyFilter
from crawlctl.pipeline.search.query.node import BaseLeaf, BaseNode
from crawlctl.pipeline.text.words.tokens import tokens

# Fields of a page in which a word can be asked for.
FIELDS = INDEXED_FIELDS

# Any other word is printed in quotes, because it would be read as something else.
_BARE_WORD = re.compile(r"(?![+-]|(?:AND|OR|NOT)$|.*\.\.)[^\s()\"“”„*:]+")


class Word(BaseLeaf, frozen=True):
    """A word anywhere in a page, or in one field of it; `e-mail` and `a.b()` are words too."""

    text: str
    field: str | None = None

    def infix(self) -> str:
        """Return the word, in quotes where it would be read as something else."""
        return _field(self.field) + (self.text if _BARE_WORD.fullmatch(self.text) else f'"{self.text}"')


class Exact(BaseLeaf, frozen=True):
    """A word in quotes: exactly as it is written, and no other form of it; case does not count."""

    text: str
    field: str | None = None

    def infix(self) -> str:
        """Return the word in quotes."""
        return f'{_field(self.field)}"{self.text}"'


class Phrase(BaseLeaf, frozen=True):
    """Two words or more that stand side by side in one field."""

    words: tuple[str, ...]
    field: str | None = None

    def infix(self) -> str:
        """Return the words in quotes."""
        return f'{_field(self.field)}"{" ".join(self.words)}"'


class Prefix(BaseLeaf, frozen=True):
    """Any word that begins with `text`, which is a single token."""

    text: str
    field: str | None = None

    def infix(self) -> str:
        """Return the beginning with a star."""
        return f"{_field(self.field)}{self.text}*"


class Range(BaseLeaf, frozen=True):
    """Any number from `low` to `high`, both included."""

    low: int
    high: int
    field: str | None = None

    def infix(self) -> str:
        """Return the two ends."""
        return f"{_field(self.field)}{self.low}..{self.high}"


class AllPages(BaseLeaf, frozen=True):
    """All pages that were fetched; pages known only by links to them do not count."""

    def infix(self) -> str:
        """Return the star."""
        return "*"


class And(BaseNode, frozen=True):
    """Pages that all parts match."""

    parts: tuple[Node, ...]

    def infix(self) -> str:
        """Return the parts side by side."""
        return " ".join(part.operand() for part in self.parts)

    def operand(self) -> str:
        """Return the node in parentheses."""
        return f"({self.infix()})"


class Or(BaseNode, frozen=True):
    """Pages that at least one part matches."""

    parts: tuple[Node, ...]

    def infix(self) -> str:
        """Return the parts with OR between them."""
        return " OR ".join(part.operand() for part in self.parts)

    def operand(self) -> str:
        """Return the node in parentheses."""
        return f"({self.infix()})"


class Not(BaseNode, frozen=True):
    """Pages that the other parts of the `And` around it match and this part does not match."""

    part: Node

    @property
    def parts(self) -> tuple[Node, ...]:
        """The one node inside this one."""
        return (self.part,)

    def infix(self) -> str:
        """Return the part with NOT before it."""
        return f"NOT {self.part.operand()}"


FieldLeaf: TypeAlias = Word | Exact | Phrase | Prefix | Range
Leaf: TypeAlias = FieldLeaf | AnyFilter | AllPages
Node: TypeAlias = Leaf | And | Or | Not


class Query(msgspec.Struct, frozen=True):
    """A query as it was understood.

    `notices` say what was repaired. `source` is what the user wrote. `plain` is true where the query has only
    words, in parentheses or not, without any operator, quote or field. Pages that match a plain query in full
    may be followed by pages that match some of its words; a query with operators is never loosened.
    """

    tree: Node
    plain: bool
    notices: tuple[str, ...]
    source: str


def quoted(text: str, field: str | None) -> Word | Exact:
    """Return the leaf of one word in quotes.

    A word that has to stand in quotes, as `AND` or `foo:bar`, is a word like others: its quotes say no more.
    """
    is_exact = _BARE_WORD.fullmatch(text) and len(tokens(text)) == 1
    return Exact(text, field) if is_exact else Word(text, field)


def _field(name: str | None) -> str:
    return f"{name}:" if name else ""
