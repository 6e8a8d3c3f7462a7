"""The result of a search: the documents that were found, before titles and snippets are marked."""

from __future__ import annotations

import msgspec

from crawlctl.pipeline.text.documents.page import PageDetails


class Explanation(msgspec.Struct, frozen=True):
    """One part of a score: its name, what it adds, why, and the parts it is made of."""

    label: str
    score: float
    reason: str = ""
    parts: tuple[Explanation, ...] = ()


class Hit(msgspec.Struct, frozen=True):
    """A document that was found; times are whole UTC seconds, 0 means unknown."""

    url: str
    title: str
    text: str
    headings: tuple[str, ...]
    score: float
    fetched_at: int
    last_modified: int
    language: str
    partial: bool  # it has some of the words of the query, not all
    fetched: bool  # False: the page is not fetched yet and known only by links to it
    similar: int  # number of other documents of its duplicate group that match too
    details: PageDetails = PageDetails()
    explanation: Explanation | None = None


class Results(msgspec.Struct, frozen=True):
    """The hits that were asked for; `total` is the number of documents that match the query in full."""

    hits: tuple[Hit, ...]
    total: int
    partial: int  # documents that match some words of the query; 0 if these were not looked for
    unknown: tuple[str, ...]  # words that no document has
