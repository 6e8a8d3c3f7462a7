"""A query answered for people or programs: the pages that were found, each with what shows why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.answer.find import find
from crawlctl.pipeline.search.answer.results import Explanation
from crawlctl.pipeline.search.answer.snippets import marked_title, snippet

if TYPE_CHECKING:
    from crawlctl.pipeline.search.answer.find import Sort
    from crawlctl.pipeline.search.answer.results import Hit, Results
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.query.tree import Query


class Marked(msgspec.Struct, frozen=True):
    """A line of text and the spans of characters in it that were asked for."""

    text: str
    spans: tuple[tuple[int, int], ...]


class Page(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page that was found; times are whole UTC seconds, 0 means unknown."""

    number: int
    url: str
    title: Marked
    snippet: Marked
    score: float
    fetched_at: int
    last_modified: int
    language: str
    partial: bool = False
    fetched: bool = True
    similar: int = 0
    explanation: Explanation | None = None


class Answer(msgspec.Struct, frozen=True):
    """The pages that were asked for and what is to be said about them all."""

    query: str
    total: int
    partial: int
    pages: tuple[Page, ...]
    notices: tuple[str, ...]
    suggestions: dict[str, str]  # for words that no page has


def answer(
    index: Searcher,
    query: Query,
    *,
    limit: int,
    offset: int = 0,
    sort: Sort = "score",
    strict: bool = False,
    explain: bool = False,
) -> Answer:
    """Return the pages that match a query, from the one at `offset` on, with titles and snippets marked."""
    results = find(index, query, limit=limit, offset=offset, sort=sort, strict=strict, explain=explain)
    if offset and not results.hits:
        raise _beyond(results, offset)
    pages = tuple(_page(hit, query, offset + place) for place, hit in enumerate(results.hits, 1))
    suggestions = _suggestions(index, results) if results.unknown else {}
    return Answer(query.source, results.total, results.partial, pages, query.notices, suggestions)


def _page(hit: Hit, query: Query, number: int) -> Page:
    return Page(
        number,
        hit.url,
        Marked(*marked_title(hit.title, query.tree, hit.language)),
        Marked(*snippet(hit.text, query.tree, hit.language)),
        hit.score,
        hit.fetched_at,
        hit.last_modified,
        hit.language,
        hit.partial,
        hit.fetched,
        hit.similar,
        hit.explanation,
    )


def _suggestions(index: Searcher, results: Results) -> dict[str, str]:
    from crawlctl.pipeline.search.answer.suggest import suggestion

    found = {word: suggestion(index, word) for word in results.unknown}
    return {word: better for word, better in found.items() if better is not None}


def _beyond(results: Results, offset: int) -> QueryError:
    count = results.total + results.partial
    what = f"{count:,} pages match" if count != 1 else "1 page matches"
    return QueryError(f"nothing is left from {offset:,} on, {what}; give a smaller --offset")
