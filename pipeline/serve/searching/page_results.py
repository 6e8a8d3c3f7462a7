"""A page of results as a visitor sees it: with a better spelling, with filters, or with advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.search.query.filters import Site
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.search.query.tree import Not
from crawlctl.pipeline.serve.searching.filter_links import FacetLinks, FilterLink, FilterLinks
from crawlctl.pipeline.serve.searching.found_results import Found, search
from crawlctl.pipeline.serve.searching.nothing_found import Advice, advice_for, words_of
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.query.tree import Node, Query
    from crawlctl.pipeline.serve.searching.search_request import SearchRequest

PER_HOST = 2  # the most results per host, unless the query names a site or the visitor wants all


class PageResults(msgspec.Struct, frozen=True):
    """The results of a query, and the queries that the page links to."""

    found: Found
    query: str  # the query that was searched for: as typed, or with better spellings
    is_respelt: bool
    filters: list[FilterLink]  # the filters in the query
    facets: list[FacetLinks]
    site_links: dict[int, FilterLink]  # from the number of a result to the search of only its site
    advice: Advice | None  # if nothing was found
    is_cut: bool  # the results end here, and the limit per host has left some out
    has_explicit: bool  # whether the crawl has explicit pages; only then the page offers safe search


def page_results(searcher: Searcher, wanted: SearchRequest) -> PageResults:
    """Return the results of a query or of a better spelling of it, and the queries to link to."""
    found, query = _found(searcher, wanted)
    parsed = parse(query)
    links = FilterLinks(parsed)
    return PageResults(
        found,
        query,
        query != wanted.text,
        links.chosen(),
        links.of_facets(found.facets, found.total),
        _site_links(found, parsed, links),
        None if found.results or wanted.offset else advice_for(searcher, parsed, wanted.safe),
        _is_cut(found, wanted, _per_host(searcher, wanted)),
        bool(searcher.explicit),
    )


def _is_cut(found: Found, wanted: SearchRequest, per_host: int) -> bool:
    """Return whether the results end on this page, and the limit per host has left out pages that match."""
    if not per_host or found.has_more or not found.results:
        return False
    is_left = found.total + found.partial > found.results[-1].number
    return is_left and (wanted.offset > 0 or any(one.more_on_host for one in found.results))


def _site_links(found: Found, query: Query, whole: FilterLinks) -> dict[int, FilterLink]:
    """Return the searches for more pages of a site.

    Partial matches do not follow a filter, so they use OR. That is another query, not one with a filter more.
    """
    found_links: dict[int, FilterLink] = {}
    for one in found.results:
        if one.more_on_host:
            site = Site(host_of(one.url))
            links = FilterLinks(parse(" OR ".join(words_of(query)))) if one.is_partial else whole
            label = "more on this site" if one.is_partial else f"{one.more_on_host:,} more on this site"
            change = "" if one.is_partial else site.infix()
            found_links[one.number] = FilterLink(label, links.with_filters((site,)), change=change)
    return found_links


def explained(searcher: Searcher, wanted: SearchRequest, number: int) -> Found:
    """Return one result with its explanation, numbered as on the page of results."""
    _, query = _found(searcher, wanted)
    one = msgspec.structs.replace(wanted, text=query, limit=1, offset=number - 1)
    return search(searcher, one, explain=True, per_host=_per_host(searcher, one))


def _found(searcher: Searcher, wanted: SearchRequest) -> tuple[Found, str]:
    """Return the results and the query: another spelling, if no page has all words as they were typed."""
    found = _searched(searcher, wanted)
    if found.suggestion and not found.total and not wanted.is_exact:
        respelt = _searched(searcher, msgspec.structs.replace(wanted, text=found.suggestion))
        if respelt.total:
            return respelt, found.suggestion
    return found, wanted.text


def _searched(searcher: Searcher, wanted: SearchRequest) -> Found:
    return search(searcher, wanted, per_host=_per_host(searcher, wanted), facets=True)


def _per_host(searcher: Searcher, wanted: SearchRequest) -> int:
    """Return how many results of a host are shown: 0 (all) if wanted, or if query or crawl have one site."""
    is_all = wanted.is_all or _names_site(parse(wanted.text).tree) or not _has_several_hosts(searcher)
    return 0 if is_all else PER_HOST


def _names_site(tree: Node) -> bool:
    if isinstance(tree, Site):
        return True
    return not isinstance(tree, Not) and any(map(_names_site, tree.parts))


def _has_several_hosts(searcher: Searcher) -> bool:
    reader, names = searcher.reader, set[bytes]()
    for number in reader.fetched_ranges():
        names.update(reader.hosts(number).names[:2])
        if len(names) > 1:
            return True
    return False
