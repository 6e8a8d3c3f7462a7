"""The answers of the API as records; the description of the API (openapi.py) is made from them."""

from __future__ import annotations

from typing import Annotated

import msgspec

from crawlctl.pipeline.serve.searching.suggestions import Suggestion
from crawlctl.pipeline.text.details.shown_details import ShownDetails

Seconds = Annotated[int, msgspec.Meta(description="UTC seconds since 1970; 0 if unknown")]


class ApiText(msgspec.Struct, frozen=True):
    """A text in one line, and the spans of characters [start, end) that the query asked for."""

    text: str
    spans: list[tuple[int, int]]


class ApiSection(msgspec.Struct, frozen=True):
    """A section of a page, and the URL that leads to it."""

    title: str
    url: str


class ApiResult(msgspec.Struct, frozen=True, kw_only=True):
    """A page that was found."""

    number: Annotated[int, msgspec.Meta(description="from 1, in the whole answer")]
    url: str
    title: ApiText
    snippet: ApiText
    section: Annotated[
        ApiSection | None, msgspec.Meta(description="the section that the snippet is from; null if unknown")
    ]
    score: float
    language: Annotated[str, msgspec.Meta(description="such as en; empty if unknown")]
    fetched_at: Seconds
    last_modified: Seconds
    is_partial: Annotated[bool, msgspec.Meta(description="has some of the words, not all")]
    is_fetched: Annotated[bool, msgspec.Meta(description="false: known only by links to it")]
    similar: Annotated[int, msgspec.Meta(description="other pages with nearly the same text that match")]
    details: ShownDetails


class ApiSearch(msgspec.Struct, frozen=True, kw_only=True):
    """The results of a query."""

    query: str
    read_as: Annotated[str, msgspec.Meta(description="the query as it was understood")]
    snapshot: Annotated[int, msgspec.Meta(description="the state of the crawl that was searched")]
    total: Annotated[int, msgspec.Meta(description="pages that match the query in full")]
    partial: Annotated[int, msgspec.Meta(description="pages that have some words; 0 if not looked for")]
    offset: int
    limit: int
    seconds: Annotated[float, msgspec.Meta(description="that the search took")]
    hidden: Annotated[int, msgspec.Meta(description="pages that match too, left out by safe search")]
    notices: Annotated[list[str], msgspec.Meta(description="what was left out of the query")]
    unknown: Annotated[list[str], msgspec.Meta(description="words that no page has")]
    suggestion: Annotated[str, msgspec.Meta(description="the query with better spellings; may be empty")]
    next: Annotated[str | None, msgspec.Meta(description="the path of the next results")]
    results: list[ApiResult]


class ApiDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A stored page: its text as searches see it."""

    url: str
    title: str
    language: str
    fetched_at: Seconds
    last_modified: Seconds
    details: ShownDetails
    headings: list[str]
    sections: list[ApiSection]
    text: str


class ApiSuggestions(msgspec.Struct, frozen=True):
    """What a query that is being typed may become, the best first."""

    suggestions: list[Suggestion]


class ApiSimilar(msgspec.Struct, frozen=True):
    """The other pages with nearly the same text as a page."""

    url: str
    urls: list[str]
    is_cut: Annotated[bool, msgspec.Meta(description="there are more than these")]


class ApiStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What can be searched."""

    version: Annotated[str, msgspec.Meta(description="of crawlctl")]
    snapshot: int
    updated: Annotated[float, msgspec.Meta(description="when the snapshot was committed, in UTC seconds")]
    pages: Annotated[int, msgspec.Meta(description="that were fetched and can be searched")]
    sites: int
    known_urls: Annotated[int, msgspec.Meta(description="of the crawl, fetched or not")]


class ApiSite(msgspec.Struct, frozen=True):
    """A host with pages in the index."""

    host: str
    pages: int


class ApiSites(msgspec.Struct, frozen=True):
    """Hosts with pages in the index, those with most pages first."""

    total: int
    offset: int
    next: str | None
    sites: list[ApiSite]


class ApiProblem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a request was not answered (RFC 9457)."""

    title: str
    status: int
    detail: str
    type: str = "about:blank"
    caret: Annotated[
        str, msgspec.Meta(description="the query, and below it a caret where it is not understood")
    ] = ""
