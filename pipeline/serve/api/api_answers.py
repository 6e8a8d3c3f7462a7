"""Turns search results, documents and other findings into the records of the API."""

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
from crawlctl.pipeline.serve.searching.search_request import MAX_RESULTS, SAFE
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.text.details.shown_details import shown_details

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.search.answer.snippets import MarkedText
    from crawlctl.pipeline.serve.searching.found_results import Found, FoundResult
    from crawlctl.pipeline.serve.searching.search_request import SearchRequest


def api_search(found: Found, wanted: SearchRequest, writer: str, base: str = "") -> ApiSearch:
    """Return the results of a search in the snapshot with the random name `writer`; `base` starts paths."""
    return ApiSearch(
        query=wanted.text,
        read_as=found.read_as,
        snapshot=found.snapshot,
        total=found.total,
        partial=found.partial,
        offset=wanted.offset,
        limit=wanted.limit,
        seconds=round(found.seconds, 6),
        hidden=found.hidden,
        notices=[*found.notices, *_hidden_notice(found)],
        unknown=list(found.unknown),
        suggestion=found.suggestion,
        next=_next_path(found, wanted, writer, base),
        results=[_result(one) for one in found.results],
    )


def _hidden_notice(found: Found) -> Iterator[str]:
    if found.is_much_hidden:
        all_pages = counted(found.total + found.hidden, "page that matches", "pages that match")
        yield f"safe search has left out {found.hidden:,} of {all_pages}; safe=off shows them"


def _next_path(found: Found, wanted: SearchRequest, writer: str, base: str) -> str | None:
    """Return the path of the next results; None if there are none, or they lie beyond MAX_RESULTS."""
    after = wanted.offset + wanted.limit
    if not found.has_more or after >= MAX_RESULTS:
        return None
    parameters: dict[str, Any] = {"q": wanted.text, "limit": wanted.limit}
    if wanted.sort != "score":
        parameters["sort"] = wanted.sort
    if wanted.safe != SAFE:
        parameters["safe"] = wanted.safe
    parameters["cursor"] = SearchCursor(found.snapshot, writer, after)
    return f"{base}/api/search?{urlencode(parameters)}"


def _result(one: FoundResult) -> ApiResult:
    return ApiResult(
        number=one.number,
        url=one.url,
        title=_text(one.title),
        snippet=_text(one.snippet),
        section=ApiSection(one.section.title, one.section.url) if one.section else None,
        score=one.score,
        language=one.language,
        fetched_at=one.fetched_at,
        last_modified=one.last_modified,
        is_partial=one.is_partial,
        is_fetched=one.is_fetched,
        similar=one.similar,
        details=one.details,
    )


def _text(marked: MarkedText) -> ApiText:
    return ApiText(marked.text, list(marked.spans))


def api_document(record: DocRecord) -> ApiDocument:
    """Return a stored page."""
    base = record.url.partition("#")[0]
    return ApiDocument(
        url=record.url,
        title=record.title,
        language=record.language,
        fetched_at=record.fetched_at,
        last_modified=record.last_modified,
        details=shown_details(record.details, record.last_modified, record.fetched_at),
        headings=list(record.headings),
        sections=[
            ApiSection(one.title, f"{base}#{quote(one.anchor, safe='')}")
            for one in record.details.sections
            if one.anchor
        ],
        text=record.text,
    )
