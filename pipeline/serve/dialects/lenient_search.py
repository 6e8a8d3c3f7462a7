"""Searches for programs that know no operators: if a text is no query, its words are searched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.serve.searching.found_results import search
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.serve.searching.found_results import Found
    from crawlctl.pipeline.serve.searching.search_request import SearchRequest

_OR = re.compile(r"\bOR\b")
_OPERATOR = re.compile(r"\b(?:AND|OR|NOT)\b")


def lenient_search(searcher: Searcher, wanted: SearchRequest, filters: Iterable[str] = ()) -> Found:
    """Return the results of a query. If it cannot be parsed, search for its words.

    Filters, such as `lang:en`, hold for the whole query.
    """
    try:
        return search(searcher, _filtered(wanted, wanted.text, filters))
    except QueryError:
        words = " ".join(tokens(_OPERATOR.sub(" ", wanted.text)))
        return search(searcher, _filtered(wanted, words, filters))


def _filtered(wanted: SearchRequest, text: str, filters: Iterable[str]) -> SearchRequest:
    """Return a search with filters.

    A query with OR is put in parentheses, so that the filters hold for all of it. Other queries are not:
    parentheses turn off partial matches.
    """
    whole = f"({text})" if _OR.search(text) else text
    given = " ".join(filters)
    return msgspec.structs.replace(wanted, text=f"{whole} {given}" if given else text)
