"""Open WebUI's external web search and external web loader: it asks for results, then for their pages.

In Open WebUI the user sets one URL for the search and one for the loader; the API key that it sends is
ignored. Pages come from the archive of the crawl. Pages that were not crawled are left out; nothing is
fetched from the web.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from starlette.responses import Response

from crawlctl.pipeline.errors import NothingMatched
from crawlctl.pipeline.serve.api.tagged_answers import JSON
from crawlctl.pipeline.serve.dialects.lenient_search import lenient_search
from crawlctl.pipeline.serve.dialects.request_body import json_body
from crawlctl.pipeline.serve.searching.search_request import MAX_LIMIT, SearchRequest, text_in

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from starlette.requests import Request

    from crawlctl.pipeline.serve.served_crawl import ServedCrawl

MAX_URLS = 20  # per request; Open WebUI sends no more


class WebuiSearch(msgspec.Struct, frozen=True):
    """The body of a search request of Open WebUI."""

    query: Annotated[str, msgspec.Meta(min_length=1)]
    count: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = 5


class WebuiResult(msgspec.Struct, frozen=True):
    """A page that was found."""

    link: str
    title: str
    snippet: str


class WebuiUrls(msgspec.Struct, frozen=True):
    """The pages that Open WebUI wants to read."""

    urls: Annotated[list[str], msgspec.Meta(max_length=MAX_URLS)]


class WebuiMetadata(msgspec.Struct, frozen=True):
    """The URL, the title and the language of a page."""

    source: str
    title: str
    language: str


class WebuiPage(msgspec.Struct, frozen=True):
    """A page as Markdown, or as text if its copy may not be shown."""

    page_content: str
    metadata: WebuiMetadata


class OpenWebuiDialect:
    """The answers of one crawl for Open WebUI."""

    def __init__(self, crawl: ServedCrawl) -> None:
        self._crawl = crawl

    def routes(self) -> dict[str, Callable[[Request], Awaitable[Response]]]:
        """Return the routes, for POST: which function answers which path."""
        return {"/api/open-webui/search": self.search, "/api/open-webui/load": self.load}

    async def search(self, request: Request) -> Response:
        """Answer a query with a list of results."""
        asked = await json_body(request, WebuiSearch)
        wanted = SearchRequest(text_in({"q": asked.query}), limit=asked.count)
        found = await self._crawl.searching.run(
            lambda: self._crawl.index.ask(lambda searcher: lenient_search(searcher, wanted))
        )
        results = [WebuiResult(one.url, one.title.text, one.snippet.text) for one in found.results]
        return Response(msgspec.json.encode(results), media_type=JSON)

    async def load(self, request: Request) -> Response:
        """Return the requested pages, without pages that were not crawled."""
        asked = await json_body(request, WebuiUrls)
        pages = await self._crawl.reading.run(lambda: list(self._pages(asked.urls)))
        return Response(msgspec.json.encode(pages), media_type=JSON)

    def _pages(self, urls: list[str]) -> Iterator[WebuiPage]:
        stored = self._crawl.pages()
        for url in urls:
            try:
                record = stored.document(url)
            except NothingMatched:
                continue
            try:
                content = self._crawl.markdown(record.url)
            except NothingMatched:
                content = record.text
            yield WebuiPage(content, WebuiMetadata(record.url, record.title, record.language))
