"""ApiRoutes: the answers of the API, each a function from a request to JSON."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import msgspec
from starlette.responses import Response

from crawlctl import __version__
from crawlctl.pipeline.serve.api.api_types import (
    ApiDocument,
    ApiResult,
    ApiSearch,
    ApiSection,
    ApiSite,
    ApiSites,
    ApiStatus,
    ApiText,
)
from crawlctl.pipeline.serve.problem import Problem
from crawlctl.pipeline.serve.searching.found_results import Found, FoundResult, search
from crawlctl.pipeline.serve.searching.search_request import (
    MAX_LIMIT,
    MAX_RESULTS,
    SearchRequest,
    number_in,
    program_search_of,
)
from crawlctl.pipeline.text.details.shown_details import shown_details

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.search.answer.snippets import MarkedText
    from crawlctl.pipeline.serve.served_crawl import ServedCrawl

_JSON = "application/json"
_FORMATS = {"json": _JSON, "text": "text/plain; charset=utf-8", "markdown": "text/markdown; charset=utf-8"}


class ApiRoutes:
    """The API of one crawl."""

    def __init__(self, crawl: ServedCrawl) -> None:
        self._crawl = crawl

    def routes(self) -> dict[str, Callable[[Request], Awaitable[Response]]]:
        """Return the functions by path."""
        return {
            "/api/search": self.search,
            "/api/document": self.document,
            "/api/status": self.status,
            "/api/sites": self.sites,
            "/api/openapi.json": self.openapi,
        }

    async def search(self, request: Request) -> Response:
        """Answer a query."""
        wanted = program_search_of(request.query_params)
        if not wanted.text:
            raise Problem(HTTPStatus.BAD_REQUEST, "the query is missing: add ?q=")

        def answered() -> Response:
            snapshot = self._crawl.index.ask(lambda searcher: searcher.snapshot)
            if _has(request, snapshot.writer):
                return _unchanged(snapshot.writer)
            found = self._crawl.index.ask(lambda searcher: search(searcher, wanted))
            answer = _search(found, wanted)
            return _json(answer, self._crawl.index.snapshot.writer, answer.next)

        return await self._crawl.searching.run(answered)

    async def document(self, request: Request) -> Response:
        """Answer with a stored page as JSON, as text or as Markdown."""
        url, form = request.query_params.get("url", ""), request.query_params.get("format", "") or "json"
        if not url:
            raise Problem(HTTPStatus.BAD_REQUEST, "the address of a page is missing: add ?url=")
        if form not in _FORMATS:
            raise Problem(HTTPStatus.BAD_REQUEST, f"format must be {', '.join(_FORMATS)}")

        def read() -> Response:
            pages = self._crawl.pages()
            if _has(request, pages.snapshot.writer):
                return _unchanged(pages.snapshot.writer)
            if form == "markdown":
                body = self._markdown(url).encode()
            elif form == "text":
                body = pages.document(url).text.encode()
            else:
                body = msgspec.json.encode(_document(pages.document(url)))
            return Response(body, headers=_headers(pages.snapshot.writer, _FORMATS[form]))

        return await self._crawl.reading.run(read)

    async def status(self, request: Request) -> Response:
        """Say what can be searched."""

        def answered() -> Response:
            contents, writer = self._crawl.index.contents(), self._crawl.index.snapshot.writer
            if _has(request, writer):
                return _unchanged(writer)
            sites = len(contents.sites)
            return _json(
                ApiStatus(__version__, contents.snapshot, contents.updated, contents.pages, sites), writer
            )

        return await self._crawl.searching.run(answered)

    async def sites(self, request: Request) -> Response:
        """List the hosts that have pages."""
        limit = number_in(request.query_params, "limit", MAX_LIMIT, low=1, high=MAX_RESULTS)
        offset = number_in(request.query_params, "offset", 0, low=0, high=999_999)

        def answered() -> Response:
            contents, writer = self._crawl.index.contents(), self._crawl.index.snapshot.writer
            if _has(request, writer):
                return _unchanged(writer)
            total, after = len(contents.sites), offset + limit
            following = f"/api/sites?limit={limit}&offset={after}" if after < total else None
            shown = [ApiSite(host, pages) for host, pages in contents.sites[offset:after]]
            return _json(ApiSites(total, offset, following, shown), writer, following)

        return await self._crawl.searching.run(answered)

    async def openapi(self, _request: Request) -> Response:
        """Describe the API."""
        from crawlctl.pipeline.serve.api.openapi import openapi

        return Response(msgspec.json.encode(openapi()), media_type=_JSON)

    def _markdown(self, url: str) -> str:
        from crawlctl.pipeline.crawl.listings.archived_markdown import archived_document, archived_markdown

        pages = self._crawl.pages()
        copy = pages.copy(url)
        document = archived_document(copy.url, copy.head, copy.body)
        return archived_markdown(self._crawl.store, pages.snapshot, document, self._crawl.options.config).text


def _search(found: Found, wanted: SearchRequest) -> ApiSearch:
    after = wanted.offset + wanted.limit
    parameters: dict[str, Any] = {"q": wanted.text, "limit": wanted.limit, "offset": after}
    if wanted.sort != "score":
        parameters["sort"] = wanted.sort
    has_next = found.has_more and after + wanted.limit <= MAX_RESULTS
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
        f"/api/search?{urlencode(parameters)}" if has_next else None,
        [_result(one) for one in found.results],
    )


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


def _document(record: DocRecord) -> ApiDocument:
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


def _json(answer: msgspec.Struct, writer: str, following: str | None = None) -> Response:
    headers = _headers(writer, _JSON)
    if following:
        headers["Link"] = f'<{following}>; rel="next"'
    return Response(msgspec.json.encode(answer), headers=headers)


def _headers(writer: str, content_type: str) -> dict[str, str]:
    return {"Content-Type": content_type, "ETag": _tag(writer)}


def _tag(writer: str) -> str:
    """Return the ETag of answers from a snapshot; weak, because the time that a search took differs."""
    return f'W/"{writer[:16]}-{__version__}"'


def _has(request: Request, writer: str) -> bool:
    """Return whether the client has the answer of this snapshot already."""
    known = {tag.strip() for tag in request.headers.get("if-none-match", "").split(",")}
    return _tag(writer) in known or "*" in known


def _unchanged(writer: str) -> Response:
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": _tag(writer)})
