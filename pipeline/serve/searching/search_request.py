"""SearchRequest: what a visitor asks for, read from the parameters of a URL, within limits."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal, get_args
from urllib.parse import quote_plus

import msgspec

from crawlctl.pipeline.search.answer.find import Safe
from crawlctl.pipeline.serve.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CHARACTERS = 500  # the most characters of a query
MAX_LIMIT = 100  # the most results per answer
# no results beyond this number are shown, because each page of results searches for all results before it
# too
MAX_RESULTS = 1000
PER_PAGE = 10

Sort = Literal["score", "date"]
SAFE: Safe = "moderate"  # the default
_SORTS: tuple[Sort, ...] = get_args(Sort)
SAFES: tuple[Safe, ...] = get_args(Safe)
RESULTS = "/search"  # the path of the page of results
_DEFAULTS = {"sort": "score", "page": 1, "exact": 0, "all": 0, "safe": SAFE}
_MAX_DIGITS = 6
_SENT_AS_CODES = re.compile(r"[\x00-\x7f]+|\W+")


class SearchRequest(msgspec.Struct, frozen=True):
    """A query, the order of its results, and which range of the results is requested."""

    text: str
    sort: Sort = "score"
    limit: int = PER_PAGE
    offset: int = 0
    safe: Safe = SAFE
    is_exact: bool = False  # the words are searched for as typed, even where a better spelling is known
    is_all: bool = False  # all pages of a host are shown, not only the best few

    @property
    def page(self) -> int:
        """The number of the page of results, from 1."""
        return self.offset // self.limit + 1

    def stated(self, **changes: str | int) -> dict[str, str | int]:
        """Return the parameters of this search with some of them changed; defaults are left out."""
        wanted: dict[str, str | int] = {"q": self.text, "sort": self.sort, "exact": int(self.is_exact)}
        wanted |= {"all": int(self.is_all), "safe": self.safe, "page": self.page, **changes}
        return {name: value for name, value in wanted.items() if _DEFAULTS.get(name) != value}

    def path(self, path: str = RESULTS, **changes: str | int) -> str:
        """Return the address of this search with some parameters changed."""
        stated = self.stated(**changes)
        return f"{path}?{'&'.join([f'{name}={readable(str(value))}' for name, value in stated.items()])}"


def readable(text: str) -> str:
    """Return a value as an address has it; letters that are not ASCII stay letters.

    Browsers encode them when they send the address: encoded here they would take three times the bytes.
    """
    return quote_plus(text) if text.isascii() else _SENT_AS_CODES.sub(_quoted, text)


def _quoted(found: re.Match[str]) -> str:
    return quote_plus(found[0])


def search_of(parameters: Mapping[str, str]) -> SearchRequest:
    """Return the search of a page for people: `q`, `sort`, `page`, `safe`, `exact` and `all`."""
    page = number_in(parameters, "page", 1, low=1, high=MAX_RESULTS // PER_PAGE)
    return SearchRequest(
        text_in(parameters),
        _sort(parameters),
        PER_PAGE,
        (page - 1) * PER_PAGE,
        safe_in(parameters),
        _is_set(parameters, "exact"),
        _is_set(parameters, "all"),
    )


def program_search_of(parameters: Mapping[str, str]) -> SearchRequest:
    """Return the search of a program: `q`, `sort`, `safe`, `limit`, and `offset` or a `cursor`.

    The last results that are shown may be fewer than `limit`.
    """
    if parameters.get("cursor") and parameters.get("offset"):
        raise Problem(HTTPStatus.BAD_REQUEST, "give cursor or offset, not both")
    limit = number_in(parameters, "limit", PER_PAGE, low=1, high=MAX_LIMIT)
    offset = number_in(parameters, "offset", 0, low=0, high=MAX_RESULTS - 1)
    limit = min(limit, MAX_RESULTS - offset)
    return SearchRequest(text_in(parameters), _sort(parameters), limit, offset, safe_in(parameters))


def text_in(parameters: Mapping[str, str]) -> str:
    """Return the query; half a surrogate pair, which no text can hold, becomes a question mark."""
    text = parameters.get("q", "").strip().encode("utf-8", "replace").decode()
    if len(text) > MAX_CHARACTERS:
        raise Problem(
            HTTPStatus.BAD_REQUEST,
            f"the query has {len(text):,} characters; at most {MAX_CHARACTERS} are read: leave words out",
        )
    return text


def number_in(parameters: Mapping[str, str], name: str, default: int, *, low: int, high: int) -> int:
    """Return a whole number, the default if the parameter is not given."""
    text = parameters.get(name, "").strip()
    if not text:
        return default
    is_number = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    if not (is_number and low <= int(text) <= high):
        raise Problem(HTTPStatus.BAD_REQUEST, f"{name} must be a whole number from {low} to {high}")
    return int(text)


def _is_set(parameters: Mapping[str, str], name: str) -> bool:
    return bool(number_in(parameters, name, 0, low=0, high=1))


def safe_in(parameters: Mapping[str, str]) -> Safe:
    """Return which pages are left out by safe search."""
    given = parameters.get("safe", "") or SAFE
    for safe in SAFES:
        if given == safe:
            return safe
    raise Problem(HTTPStatus.BAD_REQUEST, f"safe must be {', '.join(SAFES)}")


def _sort(parameters: Mapping[str, str]) -> Sort:
    given = parameters.get("sort", "") or "score"
    for sort in _SORTS:
        if given == sort:
            return sort
    raise Problem(HTTPStatus.BAD_REQUEST, f"sort must be {' or '.join(_SORTS)}")
