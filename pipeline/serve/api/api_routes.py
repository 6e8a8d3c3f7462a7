"""ApiRoutes: the functions of the API: each takes a request and returns JSON, text or Markdown."""

from __future__ import annotations

from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from crawlctl import __version__
from crawlctl.pipeline.serve.api.api_answers import api_document, api_search
from crawlctl.pipeline.serve.api.api_types import ApiSimilar, ApiSite, ApiSites, ApiStatus, ApiSuggestions
from crawlctl.pipeline.serve.api.search_cursor import cursor_of
from crawlctl.pipeline.serve.api.tagged_answers import JSON, json_answer, tagged_answer, unchanged
from crawlctl.pipeline.serve.problem import Problem
from crawlctl.pipeline.serve.searching.found_results import search
from crawlctl.pipeline.serve.searching.search_request import (
    MAX_LIMIT,
    MAX_RESULTS,
    number_in,
    program_search_of,
    text_in,
)
from crawlctl.pipeline.serve.searching.suggestions import MAX_SUGGESTIONS, suggestions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.serve.archived_copy import StoredPages
    from crawlctl.pipeline.serve.served_crawl import ServedCrawl
    from crawlctl.pipeline.serve.served_index import Contents

FORMATS = {"json": JSON, "text": "text/plain; charset=utf-8", "markdown": "text/markdown; charset=utf-8"}
MAX_SIMILAR = 100  # the most pages per answer


class ApiRoutes:
    """The API of one crawl; its paths begin with `base`."""

    def __init__(self, crawl: ServedCrawl, base: str = "") -> None:
        self._crawl = crawl
        self._base = base

    def routes(self) -> dict[str, Callable[[Request], Awaitable[Response]]]:
        """Return the routes: which function answers which path."""
        return {
            "/api/search": self.search,
            "/api/suggest": self.suggest,
            "/api/document": self.document,
            "/api/similar": self.similar,
            "/api/status": self.status,
            "/api/sites": self.sites,
            "/api/openapi.json": self.openapi,
        }

    async def search(self, request: Request) -> Response:
        """Answer a query; with a cursor, from the same snapshot as the previous results."""
        wanted = program_search_of(request.query_params)
        if not wanted.text:
            raise Problem(HTTPStatus.BAD_REQUEST, "the query is missing: add ?q=")
        text = request.query_params.get("cursor", "")
        cursor = cursor_of(text) if text else None
        if cursor is not None:
            limit = min(wanted.limit, MAX_RESULTS - cursor.offset)  # cursors end before MAX_RESULTS
            wanted = msgspec.structs.replace(wanted, offset=cursor.offset, limit=limit)

        def answered(searcher: Searcher) -> Response:
            writer = searcher.snapshot.writer
            known = unchanged(request, writer)
            if known is not None:
                return known
            answer = api_search(search(searcher, wanted), wanted, writer, self._base)
            return json_answer(answer, writer, answer.next)

        if cursor is None:
            return await self._crawl.searching.run(lambda: self._crawl.index.ask(answered))
        at = cursor.snapshot, cursor.writer
        return await self._crawl.searching.run(lambda: self._crawl.index.ask_snapshot(*at, answered))

    async def suggest(self, request: Request) -> Response:
        """Complete a query that is being typed."""
        text = text_in(request.query_params)
        limit = number_in(request.query_params, "limit", MAX_SUGGESTIONS, low=1, high=MAX_SUGGESTIONS)

        def answered(searcher: Searcher) -> Response:
            writer = searcher.snapshot.writer
            known = unchanged(request, writer)
            return known or json_answer(ApiSuggestions(suggestions(searcher, text, limit)), writer)

        return await self._crawl.searching.run(lambda: self._crawl.index.ask(answered))

    async def document(self, request: Request) -> Response:
        """Answer with a stored page as JSON, as text or as Markdown."""
        url, form = _url(request), request.query_params.get("format", "") or "json"
        if form not in FORMATS:
            raise Problem(HTTPStatus.BAD_REQUEST, f"format must be {', '.join(FORMATS)}")

        def read(pages: StoredPages) -> Response:
            if form == "markdown":
                body = self._crawl.markdown(url).encode()
            elif form == "text":
                body = pages.document(url).text.encode()
            else:
                body = msgspec.json.encode(api_document(pages.document(url)))
            return tagged_answer(body, pages.snapshot.writer, FORMATS[form])

        return await self._stored(request, read)

    async def similar(self, request: Request) -> Response:
        """List the other pages with nearly the same text as a page."""
        url = _url(request)

        def read(pages: StoredPages) -> Response:
            urls = list(islice(pages.similar(url), MAX_SIMILAR + 1))
            answer = ApiSimilar(url, urls[:MAX_SIMILAR], len(urls) > MAX_SIMILAR)
            return json_answer(answer, pages.snapshot.writer)

        return await self._stored(request, read)

    async def status(self, request: Request) -> Response:
        """Return how many pages and sites can be searched, and when the index was last updated."""

        def answered(contents: Contents, writer: str) -> Response:
            sites = len(contents.sites)
            answer = ApiStatus(
                version=__version__,
                snapshot=contents.snapshot,
                updated=contents.updated,
                pages=contents.pages,
                sites=sites,
                known_urls=contents.known_urls,
            )
            return json_answer(answer, writer)

        return await self._from_contents(request, answered)

    async def sites(self, request: Request) -> Response:
        """List the hosts that have pages."""
        limit = number_in(request.query_params, "limit", MAX_LIMIT, low=1, high=MAX_RESULTS)
        offset = number_in(request.query_params, "offset", 0, low=0, high=999_999)

        def answered(contents: Contents, writer: str) -> Response:
            total, after = len(contents.sites), offset + limit
            path = f"{self._base}/api/sites?limit={limit}&offset={after}"
            following = path if after < total else None
            shown = [ApiSite(host, pages) for host, pages in contents.sites[offset:after]]
            return json_answer(ApiSites(total, offset, following, shown), writer, following)

        return await self._from_contents(request, answered)

    async def openapi(self, _request: Request) -> Response:
        """Describe the API."""
        from crawlctl.pipeline.serve.api.openapi import openapi

        return Response(msgspec.json.encode(openapi()), media_type=JSON)

    async def _stored(self, request: Request, read: Callable[[StoredPages], Response]) -> Response:
        """Answer from the stored pages, or with 304 if the client already has this answer."""

        def answered() -> Response:
            pages = self._crawl.pages()
            return unchanged(request, pages.snapshot.writer) or read(pages)

        return await self._crawl.reading.run(answered)

    async def _from_contents(self, request: Request, answer: Callable[[Contents, str], Response]) -> Response:
        """Answer from the contents of the index, which are counted once per snapshot, or with 304."""

        def answered() -> Response:
            contents, writer = self._crawl.index.contents(), self._crawl.index.snapshot.writer
            return unchanged(request, writer) or answer(contents, writer)

        return await self._crawl.searching.run(answered)


def _url(request: Request) -> str:
    url = request.query_params.get("url", "")
    if not url:
        raise Problem(HTTPStatus.BAD_REQUEST, "the address of a page is missing: add ?url=")
    return url
