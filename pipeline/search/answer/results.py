"""The answer to a query."""

from __future__ import annotations

import msgspec


class Explanation(msgspec.Struct, frozen=True):
    """A part of a score: what it is, what it adds, why, and what it is made of."""

    label: str
    score: float
    reason: str = ""
    parts: tuple[Explanation, ...] = ()


class Hit(msgspec.Struct, frozen=True):
    """A page that was found; times are whole UTC seconds, 0 means unknown."""

    url: str
    title: str
    text: str
    headings: tuple[str, ...]
    score: float
    fetched_at: int
    last_modified: int
    language: str
    partial: bool  # some words of the query are not in it
    fetched: bool  # else it is known by what links to it alone
    similar: int  # pages that match as well and say nearly the same
    explanation: Explanation | None = None


class Results(msgspec.Struct, frozen=True):
    """The hits that were asked for; `total` is the number of pages that match the query in full."""

    hits: tuple[Hit, ...]
    total: int
    partial: int  # pages that match some words of it, where those were looked for
    unknown: tuple[str, ...]  # words that no page has
