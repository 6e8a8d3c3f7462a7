"""The tree that a query is read into: one class per operator, beside the filters of filters.py.

A node has the nodes inside it (`parts`), can be made again with other nodes inside it (`with_parts`), and can
print itself as a person would write it (`infix`). A printed query parses to the same tree. How to add an
operator: search/__init__.py.

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

# Fields of a page in which a word can be searched.
FIELDS = INDEXED_FIELDS

# The words that are operators if they are in capitals. In the lexer each is a kind of token of the same name.
KEYWORDS = ("AND", "OR", "NOT")

# A word that does not match this is printed in quotes, because without them it would not be read as a word.
_BARE_WORD = re.compile(rf"(?![+-]|(?:{'|'.join(KEYWORDS)})$|.*\.\.)[^\s()\"“”„*:]+")


class Word(BaseLeaf, frozen=True):
    """A word anywhere in a page, or in one field of it; `e-mail` and `a.b()` are words too."""

    text: str
    field: str | None = None

    def infix(self) -> str:
        """Return the word, in quotes if without them it would not be read as a word."""
        return _field(self.field) + (self.text if _BARE_WORD.fullmatch(self.text) else f'"{self.text}"')


class Exact(BaseLeaf, frozen=True):
    """A word in quotes: matches this form only, no other inflection; case does not count."""

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
        """Return the prefix with a star behind it."""
        return f"{_field(self.field)}{self.text}*"


class Range(BaseLeaf, frozen=True):
    """Any number from `low` to `high`, both included."""

    low: int
    high: int
    field: str | None = None

    def infix(self) -> str:
        """Return both ends with `..` between them."""
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

    def with_parts(self, parts: tuple[Node, ...]) -> And:
        """Return the node with these nodes inside it."""
        return And(parts)


class Or(BaseNode, frozen=True):
    """Pages that at least one part matches."""

    parts: tuple[Node, ...]

    def infix(self) -> str:
        """Return the parts with OR between them."""
        return " OR ".join(part.operand() for part in self.parts)

    def operand(self) -> str:
        """Return the node in parentheses."""
        return f"({self.infix()})"

    def with_parts(self, parts: tuple[Node, ...]) -> Or:
        """Return the node with these nodes inside it."""
        return Or(parts)


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

    def with_parts(self, parts: tuple[Node, ...]) -> Not:
        """Return the node with this one node inside it."""
        return Not(*parts)


FieldLeaf: TypeAlias = Word | Exact | Phrase | Prefix | Range
Leaf: TypeAlias = FieldLeaf | AnyFilter | AllPages
Node: TypeAlias = Leaf | And | Or | Not


class Query(msgspec.Struct, frozen=True):
    """The tree of a query, the text that was typed, and notices about how it was read.

    `notices` are messages about what was repaired or read differently. `source` is what the user wrote.
    `plain` is true where the query has only words, in parentheses or not, without any operator, quote or
    field. Pages that match a plain query in full may be followed by pages that match some of its words; a
    query with operators is never loosened.
    """

    tree: Node
    plain: bool
    notices: tuple[str, ...]
    source: str


def quoted(text: str, field: str | None) -> Word | Exact:
    """Return the leaf of one word in quotes.

    Words such as `AND` or `foo:bar` can only be typed in quotes. So for them quotes do not mean "exactly this
    form".
    """
    is_exact = _BARE_WORD.fullmatch(text) and len(tokens(text)) == 1
    return Exact(text, field) if is_exact else Word(text, field)


def _field(name: str | None) -> str:
    return f"{name}:" if name else ""
