"""What to try where nothing was found: the query without filters, its words alone, sites with its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.query.filters import Site
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.search.query.tree import Exact, Not, Phrase, Prefix, Range, Word
from crawlctl.pipeline.serve.searching.filter_links import FilterLink, FilterLinks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.search.answer.find import Safe
    from crawlctl.pipeline.search.answer.results import Results
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.query.tree import Node, Query

MAX_SITES = 5


class OtherQuery(msgspec.Struct, frozen=True):
    """A query that finds something, and how many pages: if `is_partial`, they have some of its words."""

    query: str
    count: int
    is_partial: bool


class Advice(msgspec.Struct, frozen=True):
    """What to try: queries that find something, and sites on which the most pages have one of the words."""

    without_filters: OtherQuery | None = None
    words_alone: OtherQuery | None = None
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
    if type(tree) in _WORDS_OF:
        yield from (Word(word).infix() for word in _WORDS_OF[type(tree)](tree))
    elif not isinstance(tree, Not):
        for part in tree.parts:
            yield from _words(part)


# The words that a leaf asks for. A range of numbers has none that could be searched for alone.
_WORDS_OF: dict[type, Callable[[Any], Iterable[str]]] = {
    Word: lambda leaf: (leaf.text,),
    Exact: lambda leaf: (leaf.text,),
    Phrase: lambda leaf: leaf.words,
    Prefix: lambda leaf: (leaf.text,),
    Range: lambda _: (),
}


def _counted(searcher: Searcher, text: str, safe: Safe) -> OtherQuery | None:
    results = _found(searcher, text, SearchOptions(1, safe=safe))
    count = results.total or results.partial if results else 0
    return OtherQuery(text, count, is_partial=not results.total) if results and count else None


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
