"""Makes the records of the API from what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from crawlctl.pipeline.serve.api.api_types import (
    ApiDocument,
    ApiResult,
    ApiSearch,
    ApiSection,
    ApiText,
)
from crawlctl.pipeline.serve.api.search_cursor import SearchCursor
from crawlctl.pipeline.serve.searching.search_request import MAX_RESULTS
from crawlctl.pipeline.text.details.shown_details import shown_details

if TYPE_CHECKING:
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.search.answer.snippets import MarkedText
    from crawlctl.pipeline.serve.searching.found_results import Found, FoundResult
    from crawlctl.pipeline.serve.searching.search_request import SearchRequest


def api_search(found: Found, wanted: SearchRequest, writer: str, base: str = "") -> ApiSearch:
    """Return the results of a search in the snapshot with the random name `writer`; `base` begins paths."""
    return ApiSearch(
        wanted.text,
        found.read_as,
        found.snapshot,
        found.total,
        found.partial,
        wanted.offset,
        wanted.limit,
        round(found.seconds, 6),
        list(found.notices),
        list(found.unknown),
        found.suggestion,
        _next_path(found, wanted, writer, base),
        [_result(one) for one in found.results],
    )


def _next_path(found: Found, wanted: SearchRequest, writer: str, base: str) -> str | None:
    """Return the path of the next results, None if there are none or if they cannot be reached."""
    after = wanted.offset + wanted.limit
    if not found.has_more or after + wanted.limit > MAX_RESULTS:
        return None
    parameters: dict[str, Any] = {"q": wanted.text, "limit": wanted.limit}
    if wanted.sort != "score":
        parameters["sort"] = wanted.sort
    parameters["cursor"] = SearchCursor(found.snapshot, writer, after)
    return f"{base}/api/search?{urlencode(parameters)}"


def _result(one: FoundResult) -> ApiResult:
    return ApiResult(
        one.number,
        one.url,
        _text(one.title),
        _text(one.snippet),
        ApiSection(one.section.title, one.section.url) if one.section else None,
        one.score,
        one.language,
        one.fetched_at,
        one.last_modified,
        one.is_partial,
        one.is_fetched,
        one.similar,
        one.details,
    )


def _text(marked: MarkedText) -> ApiText:
    return ApiText(marked.text, list(marked.spans))


def api_document(record: DocRecord) -> ApiDocument:
    """Return a stored page."""
    base = record.url.partition("#")[0]
    return ApiDocument(
        record.url,
        record.title,
        record.language,
        record.fetched_at,
        record.last_modified,
        shown_details(record.details, record.last_modified, record.fetched_at),
        list(record.headings),
        [
            ApiSection(one.title, f"{base}#{quote(one.anchor, safe='')}")
            for one in record.details.sections
            if one.anchor
        ],
        record.text,
    )
