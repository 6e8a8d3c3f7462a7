"""The result of a search: the documents that were found, before titles and snippets are marked."""

from __future__ import annotations

import msgspec

from crawlctl.pipeline.text.documents.page import PageDetails, Section

_DEFINITION = 2000  # the most characters of a section from which a snippet is made


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
    text: bytes  # in UTF-8
    headings: tuple[str, ...]
    score: float
    fetched_at: int
    last_modified: int
    language: str
    partial: bool  # it has some of the words of the query, not all
    fetched: bool  # False: the page is not fetched yet and known only by links to it
    similar: int  # how many other documents of its duplicate group match too
    details: PageDetails = PageDetails()
    explanation: Explanation | None = None
    # how many documents of its host match too (if `partial`: in part) and are not shown
    more_on_host: int = 0
    section: Section | None = None  # the section in which the page defines the name in the query

    @property
    def shown_text(self) -> bytes:
        """The text from which a snippet is made: the section with the definition, else the whole page."""
        if self.section is None:
            return self.text
        text = self.text.decode("utf-8", "ignore")
        return text[self.section.offset :][:_DEFINITION].encode()


class FacetCount(msgspec.Struct, frozen=True):
    """A value of a facet, and how many matching pages have it; an empty value stands for unknown."""

    value: str
    count: int


class Facet(msgspec.Struct, frozen=True):
    """The values that the matching pages have, the most frequent first, and whether the list is complete."""

    name: str  # site, language, type, year, or `in:` and the name of a field
    counts: tuple[FacetCount, ...]
    complete: bool


class Results(msgspec.Struct, frozen=True):
    """The hits of one answer; `total` is the number of documents that match the query in full."""

    hits: tuple[Hit, ...]
    has_more: bool  # documents follow that were not read; not known unless the options look ahead
    total: int
    # how many documents match only some words of the query; 0 if partial matches were not searched
    partial: int
    unknown: tuple[str, ...]  # words of the query that no document has
    notices: tuple[str, ...] = ()  # each says how the query was changed before it was answered
    facets: tuple[Facet, ...] = ()
    rare: tuple[str, ...] = ()  # words of the query that nearly no document has
    synonyms: tuple[tuple[str, ...], ...] = ()  # synonyms that were searched for too
    hidden: int = 0  # how many documents match in full but are left out by safe search
