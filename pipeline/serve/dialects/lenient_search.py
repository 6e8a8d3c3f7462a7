"""Searches for programs that know nothing of our operators: a text that is no query is read as words."""

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

_OPERATOR = re.compile(r"\b(?:AND|OR|NOT)\b")
_OR = re.compile(r"(?<![^\s()])OR(?![^\s()])|\|\|")  # as a word of its own: FORTRAN and ORACLE are words


def lenient_search(searcher: Searcher, wanted: SearchRequest, filters: Iterable[str] = ()) -> Found:
    """Return the results of a search, of its words alone if it cannot be understood.

    Filters, such as `lang:en`, hold for the whole query.
    """
    try:
        return search(searcher, _with_text(wanted, filtered(wanted.text, filters)))
    except QueryError:
        words = " ".join(tokens(_OPERATOR.sub(" ", wanted.text)))
        return search(searcher, _with_text(wanted, filtered(words, filters)))


def filtered(text: str, filters: Iterable[str]) -> str:
    """Return a query with filters; parentheses only where they matter, since they make a query strict."""
    given = " ".join(filters)
    if not given:
        return text
    return f"({text}) {given}" if _OR.search(text) else f"{text} {given}"


def _with_text(wanted: SearchRequest, text: str) -> SearchRequest:
    return msgspec.structs.replace(wanted, text=text)
