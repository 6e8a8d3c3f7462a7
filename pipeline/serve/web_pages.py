"""WebPages: the pages for people: each function takes a request and returns HTML."""

from __future__ import annotations

from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, RedirectResponse, Response

from crawlctl import __version__
from crawlctl.pipeline.search.query.operators import OPERATORS
from crawlctl.pipeline.serve.html_pages import rendered
from crawlctl.pipeline.serve.problem import Problem
from crawlctl.pipeline.serve.searching.filter_links import changed_query
from crawlctl.pipeline.serve.searching.found_results import search
from crawlctl.pipeline.serve.searching.page_results import explained, page_results
from crawlctl.pipeline.serve.searching.result_links import safe_link
from crawlctl.pipeline.serve.searching.search_links import SearchLinks
from crawlctl.pipeline.serve.searching.search_request import (
    MAX_CHARACTERS,
    MAX_RESULTS,
    SearchRequest,
    number_in,
    safe_in,
    search_of,
    text_in,
)
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.datastructures import QueryParams
    from starlette.requests import Request

    from crawlctl.pipeline.serve.served_crawl import ServedCrawl

# The copy has an opaque origin, runs no script and loads nothing; only its own styles count.
COPY_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
MAX_SITES = 200  # the most sites that the page about this search lists
MAX_SIMILAR = 100
FEED_ITEMS = 30
_CHANGES = ("add", "without")  # the parameters of a filter that is added or removed
MAX_TEXT = 200_000  # the most characters of a page's text that are shown


class WebPages:
    """The pages of one crawl."""

    def __init__(self, crawl: ServedCrawl, base: str = "", stores: Sequence[tuple[str, str]] = ()) -> None:
        self._crawl = crawl
        self._base = base  # the beginning of all paths of this crawl, if the server has several crawls
        self._stores = stores  # the name and the base of each crawl of the server

    async def start(self, _request: Request) -> Response:
        """Show the search box, and how many pages can be searched."""
        return await self._page("start.html", is_start=True)

    async def results(self, request: Request) -> Response:
        """Show the results of a query; without a query, show the start page."""
        wanted = search_of(request.query_params)
        if not wanted.text:
            return RedirectResponse(f"{self._base}/", HTTPStatus.SEE_OTHER)
        if _is_of_form(request.query_params):
            return RedirectResponse(self._base + _changed(wanted, request.query_params), HTTPStatus.SEE_OTHER)

        def answered() -> str:
            page = self._crawl.index.ask(lambda searcher: page_results(searcher, wanted))
            is_last = wanted.offset + 2 * wanted.limit > MAX_RESULTS
            has_next = page.found.has_more and not is_last
            return self._rendered("results.html", wanted, page=page, found=page.found, has_next=has_next)

        return HTMLResponse(await self._crawl.searching.run(answered))

    async def why(self, request: Request) -> Response:
        """Explain the score of one result."""
        wanted = search_of(request.query_params)
        number = number_in(request.query_params, "n", 1, low=1, high=MAX_RESULTS)
        if not wanted.text:
            return RedirectResponse(f"{self._base}/", HTTPStatus.SEE_OTHER)
        back = wanted.path(page=(number - 1) // wanted.limit + 1)

        def answered() -> str:
            found = self._crawl.index.ask(lambda searcher: explained(searcher, wanted, number))
            return self._rendered("why.html", wanted, found=found, number=number, back=back)

        return HTMLResponse(await self._crawl.searching.run(answered))

    async def cached(self, request: Request) -> Response:
        """Show the copy of a page in a frame; or its text, if it is not HTML or the visitor chose text."""
        url, wants_text = _url(request), bool(request.query_params.get("text"))

        def found() -> dict[str, Any]:
            pages = self._crawl.pages()
            copy, document = pages.copy(url), pages.document(url)
            is_frame = copy.is_html and not wants_text
            return {
                "url": copy.url,
                "link": safe_link(copy.url),
                "title": document.title,
                "fetched": copy.time,
                "checked": copy.checked,
                "is_frame": is_frame,
                "has_frame": copy.is_html,
                "text": "" if is_frame else document.text[:MAX_TEXT],
            }

        return await self._page("cached.html", **await self._crawl.reading.run(found))

    async def cached_page(self, request: Request) -> Response:
        """Answer with the body of a copy, for the frame; its headers forbid scripts, forms and requests."""
        url = _url(request)
        copy = await self._crawl.reading.run(lambda: self._crawl.pages().copy(url))
        if not copy.is_html:
            raise Problem(HTTPStatus.NOT_FOUND, "the copy is no HTML page")
        charset = f"; charset={copy.charset}" if copy.charset else ""
        headers = {
            "Content-Type": f"text/html{charset}",
            "Content-Security-Policy": COPY_POLICY,
            "X-Frame-Options": "SAMEORIGIN",
        }
        return Response(copy.body, headers=headers)

    async def similar(self, request: Request) -> Response:
        """List the pages with nearly the same text as a page."""
        url = _url(request)

        def found() -> list[str]:
            return list(islice(self._crawl.pages().similar(url), MAX_SIMILAR + 1))

        urls = await self._crawl.reading.run(found)
        if not urls:
            raise Problem(HTTPStatus.NOT_FOUND, "no other page says nearly the same")
        shown = [{"url": one, "link": safe_link(one)} for one in urls[:MAX_SIMILAR]]
        return await self._page("similar.html", urls=shown, is_cut=len(urls) > MAX_SIMILAR)

    async def help(self, _request: Request) -> Response:
        """Explain the operators of queries."""
        return await self._page("help.html", operators=OPERATORS)

    async def about(self, _request: Request) -> Response:
        """Show which sites can be searched, and how many pages they have."""
        return await self._page("about.html", version=__version__, most_sites=MAX_SITES)

    async def opensearch(self, request: Request) -> Response:
        """Describe the search to browsers, which can then search here from their address bar."""
        page = await self._page("opensearch.xml", origin=_origin(request))
        return Response(page.body, media_type="application/opensearchdescription+xml")

    async def rss(self, request: Request) -> Response:
        """Answer with the latest pages that match a query as a feed."""
        text = text_in(request.query_params)
        if not text:
            raise Problem(HTTPStatus.BAD_REQUEST, "the query is missing: add ?q=")
        wanted = SearchRequest(text, "date", FEED_ITEMS, safe=safe_in(request.query_params))

        def answered() -> str:
            found = self._crawl.index.ask(lambda searcher: search(searcher, wanted))
            whole = [one for one in found.results if not one.is_partial]
            origin, notices = _origin(request), found.notices
            return self._rendered("rss.xml", wanted, results=whole, notices=notices, origin=origin)

        feed = await self._crawl.searching.run(answered)
        return Response(feed, media_type="application/rss+xml")

    async def _page(self, template: str, **values: Any) -> Response:
        nothing = SearchRequest("")
        return HTMLResponse(
            await self._crawl.searching.run(lambda: self._rendered(template, nothing, **values))
        )

    def _rendered(self, template: str, wanted: SearchRequest, **values: Any) -> str:
        """Return a page with the search box; it reads the index, so it runs in the search thread."""
        contents = self._crawl.contents()
        common = {
            "contents": contents,
            "placeholder": f"Search {counted(contents.pages, 'page')}",
            "query": wanted.text,
            "sort": wanted.sort,
            "safe": wanted.safe,
            "wanted": wanted,
            "go": SearchLinks(wanted, self._base),
            "max_query": MAX_CHARACTERS,
            "is_start": False,
            "base": self._base,
            "stores": self._stores,
        }
        return rendered(template, **{**common, **values})


def _is_of_form(parameters: QueryParams) -> bool:
    """Return whether a button of the page has sent a change beside the search that it changes."""
    return any(name in parameters for name in _CHANGES) or len(parameters.multi_items()) > len(parameters)


def _changed(wanted: SearchRequest, parameters: QueryParams) -> str:
    """Return the address of the search that a button asks for; the last value of a parameter counts."""
    text = changed_query(wanted.text, *(parameters.get(name, "") for name in _CHANGES))
    is_exact = wanted.is_exact and len(parameters.getlist("q")) == 1
    return wanted.path(q=text, exact=int(is_exact))


def _origin(request: Request) -> str:
    return f"{request.url.scheme}://{request.headers.get('host', '')}"


def _url(request: Request) -> str:
    url = request.query_params.get("url", "")
    if not url:
        raise Problem(HTTPStatus.BAD_REQUEST, "the address of a page is missing: add ?url=")
    return url
