"""The application: which function answers which path, and how errors are shown."""

from __future__ import annotations

import gc
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from hashlib import sha256
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from crawlctl.pipeline.arrays.malloc import share_one_heap
from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.serve.agents.mcp_server import PATH as MCP_PATH
from crawlctl.pipeline.serve.agents.mcp_server import McpEndpoint
from crawlctl.pipeline.serve.api.api_routes import ApiRoutes
from crawlctl.pipeline.serve.api.problem_json import problem_response
from crawlctl.pipeline.serve.dialects.open_webui import OpenWebuiDialect
from crawlctl.pipeline.serve.dialects.searxng import SearxngDialect
from crawlctl.pipeline.serve.html_pages import rendered
from crawlctl.pipeline.serve.metrics import CONTENT_TYPE
from crawlctl.pipeline.serve.named_stores import base_of
from crawlctl.pipeline.serve.problem import Problem, problem_of
from crawlctl.pipeline.serve.request_guard import RequestGuard, is_api
from crawlctl.pipeline.serve.searching.search_request import MAX_CHARACTERS, SAFE
from crawlctl.pipeline.serve.served_crawl import ServedCrawl, ServeOptions
from crawlctl.pipeline.serve.web_pages import WebPages

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractAsyncContextManager

    from starlette.requests import Request
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

    Answer = Callable[[Request], Awaitable[Response]]

_STATIC = {
    "style.css": "text/css; charset=utf-8",
    "search.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_EMBEDDED = {"embed.js": "text/javascript; charset=utf-8"}  # files that web pages of other sites may load
# How many seconds a search may compute before Python switches to the event loop. With Python's default of 5
# ms a new request would wait as long as a search takes: once to be read, and once more to be answered.
SWITCH_SECONDS = 0.0005
# After how many new objects Python looks for garbage in cycles, which a search hardly makes. With its default
# of 700 this takes 4 % of the time of a search, and now and then a search waits until all objects are seen.
_GARBAGE_THRESHOLDS = (20_000, 20, 100)
_STATIC_SECONDS = 3600  # how long browsers may keep static files
_NOT_UNDERSTOOD = "This query was not understood"
# What people read instead of the name of a status; programs get the name.
_HEADINGS: dict[int, str] = {
    HTTPStatus.BAD_REQUEST: "This cannot be answered",
    HTTPStatus.NOT_FOUND: "Not found",
    HTTPStatus.METHOD_NOT_ALLOWED: "This cannot be answered",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "This is too long",
    HTTPStatus.REQUEST_URI_TOO_LONG: "This is too long",
    HTTPStatus.MISDIRECTED_REQUEST: "This server has another name",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests",
    HTTPStatus.SERVICE_UNAVAILABLE: "Please try again in a moment",
}
_ROBOTS = "User-agent: *\nDisallow: /\n"  # other search engines should not index our results


def create_app(options: ServeOptions) -> ASGIApp:
    """Return the application of one server process."""
    sys.setswitchinterval(SWITCH_SECONDS)
    share_one_heap()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)
    return app_of(ServedCrawl(options), *map(ServedCrawl, options.others))


def app_of(crawl: ServedCrawl, *others: ServedCrawl) -> ASGIApp:
    """Return the application that serves a crawl; paths of other crawls beside it begin with their names."""
    bases = {base_of(other.options.name): other for other in others} | {"": crawl}
    stores = [(one.options.name, base) for base, one in ({"": crawl} | bases).items()] if others else []
    agents = {base: McpEndpoint(one) for base, one in bases.items() if one.options.mcp}
    routes = _own_routes(crawl, *others)
    for base, one in bases.items():
        of_crawl = _routes(one, WebPages(one, base, stores), base)
        of_crawl += [Route(MCP_PATH, agents[base])] if base in agents else []
        routes += [Mount(base, routes=of_crawl)] if base else of_crawl
    app = Starlette(
        routes=routes,
        lifespan=_lifespan(agents.values()),
        exception_handlers={
            Problem: _on_problem,
            CrawlctlError: _on_error,
            HTTPException: _on_http_error,
            Exception: _on_fault,
        },
    )
    app.state.stores = stores
    return RequestGuard(
        app,
        hosts=crawl.options.hosts,
        origins=crawl.options.origins,
        metrics=crawl.metrics,
        buckets=crawl.buckets,
        refusal=refusal,
    )


def _own_routes(*crawls: ServedCrawl) -> list[BaseRoute]:
    """Return the routes of the server itself, which do not depend on its crawls."""
    answers: dict[str, Answer] = {
        "/robots.txt": _robots,
        "/healthz": _alive,
        "/metrics": _Readiness(*crawls).metrics,
        **{f"/static/{name}": _static(name, media_type) for name, media_type in _STATIC.items()},
        **{f"/static/{name}": _static(name, kind, "cross-origin") for name, kind in _EMBEDDED.items()},
    }
    return [*_of_paths(answers)]


def _routes(crawl: ServedCrawl, pages: WebPages, base: str) -> list[BaseRoute]:
    """Return the routes of one crawl."""
    searxng = SearxngDialect(crawl)
    read: dict[str, Answer] = {
        "/": searxng.beside(pages.start),
        "/search": searxng.beside(pages.results),
        "/autocompleter": searxng.completions,
        "/why": pages.why,
        "/cached": pages.cached,
        "/cached/page": pages.cached_page,
        "/similar": pages.similar,
        "/help": pages.help,
        "/about": pages.about,
        "/opensearch.xml": pages.opensearch,
        "/rss": pages.rss,
        "/readyz": _Readiness(crawl).ready,
        **ApiRoutes(crawl, base).routes(),
    }
    posted = {"/": searxng.posted, "/search": searxng.posted, **OpenWebuiDialect(crawl).routes()}
    return [*_of_paths(read), *_of_paths(posted, "POST")]


def _of_paths(answers: Mapping[str, Answer], method: str = "GET") -> Iterator[Route]:
    return (Route(path, answer, methods=[method]) for path, answer in answers.items())


def _lifespan(agents: Iterable[McpEndpoint]) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Return the context that is open from the start of the server process to its end."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for one in agents:
                await stack.enter_async_context(one.lifespan(app))
            yield

    return lifespan


class _Readiness:
    """The addresses for the monitoring of the server: whether it is ready, and its metrics."""

    def __init__(self, crawl: ServedCrawl, *others: ServedCrawl) -> None:
        self._crawl = crawl
        self._crawls = (crawl, *others)

    async def ready(self, _request: Request) -> Response:
        """Answer 200 once the index is open; 503 before that, and while the store cannot be read."""
        contents = await self._crawl.searching.run(self._crawl.readable_contents)
        return PlainTextResponse(f"ready: snapshot {contents.snapshot}\n")

    async def metrics(self, _request: Request) -> Response:
        """Answer with the numbers for Prometheus."""
        found = {one.options.name: await one.searching.run(one.contents) for one in self._crawls}
        return Response(self._crawl.metrics.text(found), headers={"Content-Type": CONTENT_TYPE})


async def _alive(_request: Request) -> Response:
    return PlainTextResponse("alive\n")


async def _robots(_request: Request) -> Response:
    return PlainTextResponse(_ROBOTS)


def _static(name: str, media_type: str, readers: str = "same-origin") -> Any:
    """Return the function that answers with a file of static/, which is read once."""
    body = (files("crawlctl.pipeline.serve") / "static" / name).read_bytes()
    tag = f'"{sha256(body).hexdigest()[:16]}"'
    headers = {
        "Content-Type": media_type,
        "ETag": tag,
        "Cache-Control": f"max-age={_STATIC_SECONDS}",
        "Cross-Origin-Resource-Policy": readers,
    }

    async def answer(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        return Response(body, headers=headers)

    return answer


def refusal(request: Request, problem: Problem) -> Response:
    """Return a problem as a page, or as JSON if a program has sent the request."""
    parameters, path = QueryParams(request.scope["query_string"]), request.scope["path"]
    if is_api(path) or parameters.get("format") == "json":
        return problem_response(problem)
    app = request.scope.get("app")  # None: refused before the application saw it
    page = rendered(
        "problem.html",
        problem=problem,
        heading=_NOT_UNDERSTOOD if problem.caret else _HEADINGS.get(problem.status, problem.title),
        query=parameters.get("q", "")[:MAX_CHARACTERS],
        sort="score",
        safe=SAFE,
        placeholder="Search",
        max_query=MAX_CHARACTERS,
        is_start=False,
        base=request.scope.get("root_path", ""),
        stores=app.state.stores if app else (),
    )
    return HTMLResponse(page, problem.status, headers=problem.headers)


async def _on_problem(request: Request, error: Exception) -> Response:
    # for the type checker: starlette passes only errors of the registered class
    assert isinstance(error, Problem)  # noqa: S101
    return refusal(request, error)


async def _on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, CrawlctlError)  # noqa: S101
    return refusal(request, problem_of(error))


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    details = {
        HTTPStatus.NOT_FOUND: "there is no such page here",
        HTTPStatus.METHOD_NOT_ALLOWED: "this address is only read: use GET",
    }
    detail = details.get(HTTPStatus(error.status_code), "the request was not understood")
    return refusal(request, Problem(error.status_code, detail, headers=dict(error.headers or {})))


async def _on_fault(request: Request, _error: Exception) -> Response:
    """Tell the visitor only that the server failed; starlette raises the error again, and uvicorn logs it."""
    return refusal(request, Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "this server has failed here"))
