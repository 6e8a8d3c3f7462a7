"""Searches for programs that do not know our operators: a text that is not a valid query is read as words."""

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
_OR = re.compile(r"(?<![^\s()])OR(?![^\s()])|\|\|")  # only as a whole word, not inside FORTRAN or ORACLE


def lenient_search(searcher: Searcher, wanted: SearchRequest, filters: Iterable[str] = ()) -> Found:
    """Return the results of a search; if the query cannot be understood, of its words alone.

    `filters`, such as `lang:en`, apply to the whole query.
    """
    try:
        return search(searcher, _with_text(wanted, filtered(wanted.text, filters)))
    except QueryError:
        words = " ".join(tokens(_OPERATOR.sub(" ", wanted.text)))
        return search(searcher, _with_text(wanted, filtered(words, filters)))


def filtered(text: str, filters: Iterable[str]) -> str:
    """Return a query with filters; parentheses are added only if needed, because they make a query strict."""
    given = " ".join(filters)
    if not given:
        return text
    return f"({text}) {given}" if _OR.search(text) else f"{text} {given}"


def _with_text(wanted: SearchRequest, text: str) -> SearchRequest:
    return msgspec.structs.replace(wanted, text=text)
