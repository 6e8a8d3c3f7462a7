"""What a query asks for, as a tree.

Words are as the user typed them; to cut them into tokens and find the terms they stand for is up to the
search. The parser sees to it that a `Not` stands only in an `And` beside a part that is none, that neither
`And` nor `Or` has a part of its own kind or fewer than two, and that every word has a letter or a digit.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

# The parts of a page that a word can be asked for in.
FIELDS = ("body", "heading", "title", "url", "anchor")


class Word(msgspec.Struct, frozen=True):
    """A word anywhere in a page, or in one field of it; `e-mail` and `a.b()` are words too."""

    text: str
    field: str | None = None


class Phrase(msgspec.Struct, frozen=True):
    """Two words or more that stand side by side in one field."""

    words: tuple[str, ...]
    field: str | None = None


class Prefix(msgspec.Struct, frozen=True):
    """Any word that begins so; `text` is a single token."""

    text: str
    field: str | None = None


class Range(msgspec.Struct, frozen=True):
    """Any number from `low` to `high`, both included."""

    low: int
    high: int
    field: str | None = None


class Site(msgspec.Struct, frozen=True):
    """Pages of a host, in lower case and perhaps with a port, and of its subdomains."""

    host: str


class And(msgspec.Struct, frozen=True):
    """Pages that all parts match."""

    parts: tuple[Node, ...]


class Or(msgspec.Struct, frozen=True):
    """Pages that at least one part matches."""

    parts: tuple[Node, ...]


class Not(msgspec.Struct, frozen=True):
    """Pages that the part does not match, among those that the others of the `And` around it match."""

    part: Node


Leaf: TypeAlias = Word | Phrase | Prefix | Range | Site
Node: TypeAlias = Leaf | And | Or | Not


class Query(msgspec.Struct, frozen=True):
    """A query as it was understood: `notices` say what was repaired, and `source` is what the user wrote.

    `plain` is true where there are only words, in parentheses or not, without any operator, quote or field.
    Those may be followed by partial matches; what was written with operators is never loosened.
    """

    tree: Node
    plain: bool
    notices: tuple[str, ...]
    source: str
