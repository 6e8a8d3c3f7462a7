"""What to try where nothing was found: the query without filters, its words alone, sites with its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.query.filters import Site
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.search.query.tree import Not, Phrase, Prefix, Word
from crawlctl.pipeline.serve.searching.filter_links import FilterLink, FilterLinks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.search.answer.find import Safe
    from crawlctl.pipeline.search.answer.results import Results
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.query.tree import Node, Query

MAX_SITES = 5


class Advice(msgspec.Struct, frozen=True):
    """Queries that find something; the counts are of pages that match, or that have some of the words."""

    without_filters: FilterLink | None = None
    words_alone: FilterLink | None = None
    sites: list[FilterLink] = []


def advice_for(searcher: Searcher, query: Query, safe: Safe = "off") -> Advice:
    """Return queries that find something, to be offered for a query that finds nothing."""
    bare, words = FilterLinks(query).without_all(), words_of(query)
    plain = " ".join(words)
    return Advice(
        _counted(searcher, bare, safe),
        _counted(searcher, plain, safe) if plain not in (bare, " ".join(query.source.split())) else None,
        _sites(searcher, " OR ".join(words), safe),
    )


def words_of(query: Query) -> list[str]:
    """Return the words that a query asks for, each once."""
    return list(dict.fromkeys(_words(query.tree)))


def _words(tree: Node) -> Iterator[str]:
    """Yield the words that a query asks for, without the words that it excludes."""
    if isinstance(tree, (Word, Prefix)):
        yield Word(tree.text).infix()
    elif isinstance(tree, Phrase):
        yield from (Word(word).infix() for word in tree.words)
    elif not isinstance(tree, Not):
        for part in tree.parts:
            yield from _words(part)


def _counted(searcher: Searcher, text: str, safe: Safe) -> FilterLink | None:
    results = _found(searcher, text, SearchOptions(1, safe=safe))
    count = results.total or results.partial if results else 0
    return FilterLink(text, text, count) if count else None


def _sites(searcher: Searcher, text: str, safe: Safe) -> list[FilterLink]:
    """Return the sites on which most pages have one of the words."""
    results = _found(searcher, text, SearchOptions(1, strict=True, facets=True, safe=safe))
    if results is None or not results.facets:
        return []
    links = FilterLinks(parse(text))
    some = results.facets[0].counts[:MAX_SITES]
    found = (FilterLink(one.value, links.with_filters((Site(one.value),)), one.count) for one in some)
    return [link for link in found if link.query]


def _found(searcher: Searcher, text: str, options: SearchOptions) -> Results | None:
    """Return the results of a query that this module has made; None if there is no query."""
    try:
        return find(searcher, parse(text), options) if text else None
    except QueryError:
        return None
