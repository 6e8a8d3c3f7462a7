"""Filters as links: for every value of a facet, the query with this filter added or removed.

A link is a query that a visitor could have typed, so the search box shows which filters are chosen. The typed
query stays as it is, if a filter added at its end applies to all of it; otherwise, as with `a OR b`, the
query is printed again, with parentheses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.query.filters import (
    After,
    AnyFilter,
    Before,
    DocumentType,
    FieldValue,
    Language,
    Site,
)
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.search.query.tree import AllPages, And, Not
from crawlctl.pipeline.serve.searching.search_request import MAX_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.search.answer.results import Facet
    from crawlctl.pipeline.search.query.tree import Node, Query

    Filters = tuple[AnyFilter, ...]

_FILTERS = get_args(AnyFilter)
_IN = "in:"  # the prefix of the names of facets of fields
_QUOTES = '"“”„'  # no filter can have them in its value
# the most values per facet: each is a link with the whole query, and the bytes of a page are limited
MAX_VALUES = 8
MAX_FACETS = 7  # the most facets: site, language, type, year and three fields


class FilterLink(msgspec.Struct, frozen=True):
    """A value of a facet, or a filter of the query; `query` is empty if no query can be made for it."""

    label: str
    query: str
    count: int = 0
    change: str = ""  # the filters that the link adds or removes, as one types them
    is_chosen: bool = False  # the query has the filter, and the link removes it


class FacetLinks(msgspec.Struct, frozen=True):
    """The values of a facet as links."""

    name: str
    links: list[FilterLink]
    is_complete: bool


class FilterLinks:
    """The links from one query to queries with other filters."""

    def __init__(self, query: Query) -> None:
        self._query = query
        tree = query.tree
        self._parts: tuple[Node, ...] = tree.parts if isinstance(tree, And) else (tree,)
        self._chosen = [part for part in self._parts if isinstance(part, _FILTERS)]
        self._stem = ""

    def chosen(self) -> list[FilterLink]:
        """Return the filters of the query, each with the query without it; a year is one filter."""
        found, left = [], list(self._chosen)
        for part in self._chosen:
            if part not in left:
                continue
            year = next((one for one in left if _are_year(part, one)), None)
            some = (part,) if year is None else (part, year)
            label = part.infix() if year is None else f"year:{part.infix().rpartition(':')[2]}"
            left = [one for one in left if one not in some]
            found.append(FilterLink(label, self.without(some), change=_written(some), is_chosen=True))
        return found

    def with_filters(self, filters: Filters) -> str:
        """Return the query with filters added; empty if it would be longer than a query may be."""
        self._stem = self._stem or _stem(self._query)
        text = f"{self._stem} {_written(filters)}"
        return text if len(text) <= MAX_CHARACTERS else ""

    def without(self, filters: Filters) -> str:
        """Return the query without some of its filters; `*`, all pages, if nothing is left."""
        rest = [part for part in self._parts if part not in filters]
        if all(isinstance(part, Not) for part in rest):
            rest.insert(0, AllPages())
        written = " ".join(part.operand() for part in rest)
        typed = " ".join(chunk for chunk in self._query.source.split() if not _is_one_of(chunk, filters))
        return typed if _tree(typed) == _tree(written) else written

    def without_all(self) -> str:
        """Return the query without any of its filters; empty if it has no filters, or only filters."""
        is_left = len(self._chosen) < len(self._parts)
        return self.without(tuple(self._chosen)) if self._chosen and is_left else ""

    def of_facets(self, facets: Sequence[Facet], total: int) -> list[FacetLinks]:
        """Return the values of facets as links; a facet whose value is the same for all pages is left out."""
        found = [self._of_facet(facet) for facet in facets]
        telling = [one for one in found if any(link.is_chosen or link.count < total for link in one.links)]
        return telling[:MAX_FACETS]

    def _of_facet(self, facet: Facet) -> FacetLinks:
        links = self._links(facet)
        is_complete = facet.complete and len(links) <= MAX_VALUES
        return FacetLinks(facet.name.removeprefix(_IN), links[:MAX_VALUES], is_complete)

    def _links(self, facet: Facet) -> list[FilterLink]:
        links = []
        for value, count in ((one.value, one.count) for one in facet.counts):
            filters = _filters(facet.name, value)
            is_chosen = bool(filters) and all(one in self._chosen for one in filters)
            query = "" if not filters else self.without(filters) if is_chosen else self.with_filters(filters)
            links.append(FilterLink(value, query, count, _written(filters), is_chosen))
        return links


def _filters(facet: str, value: str) -> Filters:
    """Return the filters that select a value of a facet; none if no filter can."""
    if not value or not value.isprintable() or any(quote in value for quote in _QUOTES):
        return ()
    if facet == "site":
        return (Site(value),)
    if facet == "language":
        return (Language(value),)
    if facet == "type":
        return (DocumentType(value),)
    if facet == "year":
        return (After(value), Before(str(int(value) + 1)))
    return (FieldValue(facet.removeprefix(_IN), value),)


def changed_query(text: str, added: str, removed: str) -> str:
    """Return a query with filters added and removed, as the links of a page do it."""
    fewer, more = _filters_in(removed) if removed else (), _filters_in(added) if added else ()
    text = FilterLinks(parse(text)).without(fewer) if fewer else text
    return (FilterLinks(parse(text)).with_filters(more) if more else text) or text


def _filters_in(text: str) -> Filters:
    tree = parse(text).tree
    parts = tree.parts if isinstance(tree, And) else (tree,)
    return tuple(part for part in parts if isinstance(part, _FILTERS))


def _written(filters: Filters) -> str:
    return " ".join(one.infix() for one in filters)


def _are_year(first: Node, second: Node) -> bool:
    """Return whether two filters of dates ask for one whole year."""
    days = {type(one): one.day for one in (first, second) if isinstance(one, (After, Before))}
    after, before = days.get(After, ""), days.get(Before, "")
    return len(after) == len(before) == len("2024") and int(before) == int(after) + 1


def _stem(query: Query) -> str:
    """Return the query in a form in which a filter at its end applies to all of it."""
    written, probe = query.tree.operand(), "lang:en"
    if not query.notices and _tree(f"{query.source} {probe}") == _tree(f"{written} {probe}"):
        return " ".join(query.source.split())
    return written


def _is_one_of(chunk: str, filters: Filters) -> bool:
    return ":" in chunk and _tree(chunk) in filters


def _tree(text: str) -> Node | None:
    """Return the tree of a query, None if it is not understood."""
    try:
        return parse(text).tree
    except QueryError:
        return None
