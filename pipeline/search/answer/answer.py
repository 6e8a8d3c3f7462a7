"""Answers a query for people or programs: the pages that were found, with titles and snippets marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.answer.find import DEFAULT_OPTIONS, find
from crawlctl.pipeline.search.answer.needles import marked_tree
from crawlctl.pipeline.search.answer.results import Explanation, Facet
from crawlctl.pipeline.search.answer.snippets import MarkedText, Marker
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.text.details.shown_details import ShownDetails, shown_details

if TYPE_CHECKING:
    from crawlctl.pipeline.search.answer.find import SearchOptions
    from crawlctl.pipeline.search.answer.results import Hit, Results
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.query.tree import Query


class AnswerPage(msgspec.Struct, frozen=True):
    """A page that was found, as it is shown; times are whole UTC seconds, 0 means unknown."""

    number: int  # from 1, in the whole answer
    url: str
    title: MarkedText
    snippet: MarkedText
    score: float
    fetched_at: int
    last_modified: int
    language: str
    partial: bool = False
    fetched: bool = True
    similar: int = 0
    details: ShownDetails = ShownDetails()
    explanation: Explanation | None = None
    anchor: str = ""  # the anchor of the section that defines the name in the query


class Answer(msgspec.Struct, frozen=True):
    """The pages of one answer, and the counts and notices that hold for the whole answer."""

    query: str
    total: int
    partial: int
    pages: tuple[AnswerPage, ...]
    notices: tuple[str, ...]
    suggestions: dict[str, str]  # better spellings of words of the query that no page, or nearly no page, has
    facets: tuple[Facet, ...] = ()
    unknown: tuple[str, ...] = ()  # words of the query that no page has


def answer(searcher: Searcher, query: Query, options: SearchOptions = DEFAULT_OPTIONS) -> Answer:
    """Return the pages that match a query, with titles and snippets marked."""
    results = find(searcher, query, options)
    if options.offset and not results.hits:
        raise _beyond_the_end(results, options.offset)
    marker = Marker(marked_tree(query.tree, results.synonyms))
    pages = tuple(_page(hit, marker, number) for number, hit in enumerate(results.hits, options.offset + 1))
    suggestions = _suggestions(searcher, results) if results.unknown or results.rare else {}
    return Answer(
        query.source,
        results.total,
        results.partial,
        pages,
        results.notices,
        suggestions,
        results.facets,
        results.unknown,
    )


def _page(hit: Hit, marker: Marker, number: int) -> AnswerPage:
    return AnswerPage(
        number,
        hit.url,
        marker.title(hit.title, hit.language),
        marker.snippet(hit.shown_text, hit.language),
        hit.score,
        hit.fetched_at,
        hit.last_modified,
        hit.language,
        hit.partial,
        hit.fetched,
        hit.similar,
        shown_details(hit.details, hit.last_modified, hit.fetched_at),
        hit.explanation,
        hit.section.anchor if hit.section else "",
    )


def _suggestions(searcher: Searcher, results: Results) -> dict[str, str]:
    from crawlctl.pipeline.search.suggestions.suggest import suggestions

    return suggestions(searcher, results.unknown, results.rare)


def _beyond_the_end(results: Results, offset: int) -> QueryError:
    count = results.total + results.partial
    matches = counted(count, "page matches", "pages match")
    folded = ", but similar pages are folded" if offset < count else ""
    return QueryError(f"nothing is left from {offset:,} on, {matches}{folded}; give a smaller --offset")
