"""The result of a search: the documents that were found, before titles and snippets are marked."""

from __future__ import annotations

import msgspec

from crawlctl.pipeline.text.documents.page import PageDetails, Section

_DEFINITION = 2000  # characters, at most, of a section that a snippet is taken from


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
    more_on_host: int = 0  # documents of its host that match too (if `partial`, in part) and are not shown
    section: Section | None = None  # where the page defines the name that was asked for

    @property
    def shown_text(self) -> str:
        """The text that a snippet is taken from: of the section with the definition, else of the page."""
        if self.section is None:
            return self.text
        return self.text[self.section.offset :][:_DEFINITION]


class FacetCount(msgspec.Struct, frozen=True):
    """A value, and how many of the pages that match have it; the empty value stands for unknown."""

    value: str
    count: int


class Facet(msgspec.Struct, frozen=True):
    """The values of the pages that match: the most frequent first, and whether these are all."""

    name: str  # site, language, type, year, or `in:` and the name of a field
    counts: tuple[FacetCount, ...]
    complete: bool


class Results(msgspec.Struct, frozen=True):
    """The hits that were asked for; `total` is the number of documents that match the query in full."""

    hits: tuple[Hit, ...]
    total: int
    partial: int  # documents that match some words of the query; 0 if these were not looked for
    unknown: tuple[str, ...]  # words that no document has
    notices: tuple[str, ...] = ()  # what was changed in the query
    facets: tuple[Facet, ...] = ()
    rare: tuple[str, ...] = ()  # words that hardly any document has
    synonyms: tuple[tuple[str, ...], ...] = ()  # words or phrases that were searched for too
    hidden: int = 0  # documents that match in full, and that safe search leaves out
