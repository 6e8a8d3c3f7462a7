"""SearXNG's search API (`/search?format=json`) and its completions, for clients that ask SearXNG.

https://docs.searxng.org/dev/search_api.html lists the parameters. Parameters that choose engines, categories
and themes are ignored, because there is one engine. Clients sort results by their score, so the score is
computed from the place in the list, as SearXNG does.
"""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal, get_args
from urllib.parse import urlsplit

import msgspec
from starlette.responses import Response

from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.serve.api.problem_json import problem_response
from crawlctl.pipeline.serve.api.tagged_answers import JSON
from crawlctl.pipeline.serve.dialects.lenient_search import lenient_search
from crawlctl.pipeline.serve.dialects.request_body import form_body
from crawlctl.pipeline.serve.problem import Problem, problem_of
from crawlctl.pipeline.serve.searching.search_request import (
    MAX_RESULTS,
    PER_PAGE,
    SAFE,
    SAFES,
    number_in,
    text_in,
)
from crawlctl.pipeline.serve.searching.search_request import SearchRequest as Wanted
from crawlctl.pipeline.serve.searching.suggestions import suggestions
from crawlctl.pipeline.terminal.utc import utc_day

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from starlette.requests import Request

    from crawlctl.pipeline.serve.searching.found_results import Found, FoundResult
    from crawlctl.pipeline.serve.served_crawl import ServedCrawl

ENGINE = "crawlctl"
SUGGESTIONS_TYPE = "application/x-suggestions+json"

TimeRange = Literal["day", "week", "month", "year"]
_DAYS: dict[TimeRange, int] = {"day": 1, "week": 7, "month": 31, "year": 366}
_NO_LANGUAGE = ("", "all", "auto")


class SearxngResult(msgspec.Struct, frozen=True):
    """A page, with the fields that SearXNG gives to a result of a general search."""

    url: str
    title: str
    content: str
    publishedDate: str | None  # noqa: N815  # SearXNG's name
    parsed_url: list[str]
    positions: list[int]
    score: float
    engine: str = ENGINE
    engines: tuple[str, ...] = (ENGINE,)
    category: str = "general"
    template: str = "default.html"
    img_src: str = ""
    thumbnail: str = ""
    priority: str = ""


class SearxngAnswer(msgspec.Struct, frozen=True):
    """The whole answer; lists that only other engines fill are empty."""

    query: str
    number_of_results: int
    results: list[SearxngResult]
    corrections: list[str]
    answers: tuple[str, ...] = ()
    infoboxes: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    unresponsive_engines: tuple[str, ...] = ()


class SearxngDialect:
    """The answers of one crawl for clients of SearXNG."""

    def __init__(self, crawl: ServedCrawl) -> None:
        self._crawl = crawl

    def beside(
        self, page: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return a function that answers `format=json` as SearXNG does, and all other requests by `page`."""

        async def answer(request: Request) -> Response:
            if request.query_params.get("format") != "json":
                return await page(request)
            return await self._answered(request.query_params)

        return answer

    async def posted(self, request: Request) -> Response:
        """Answer a form sent by POST, if it asks for JSON; pages for people take GET only."""
        fields = await form_body(request)
        if fields.get("format") != "json":
            raise Problem(
                HTTPStatus.METHOD_NOT_ALLOWED,
                "this address is only read: use GET, or format=json",
                headers={"Allow": "GET, HEAD"},
            )
        return await self._answered(fields)

    async def completions(self, request: Request) -> Response:
        """Complete a query that is being typed, in the form that browsers read (OpenSearch suggestions)."""
        text = text_in(request.query_params)
        found = await self._crawl.searching.run(
            lambda: self._crawl.index.ask(lambda searcher: suggestions(searcher, text))
        )
        texts = [one.text for one in found]
        if request.headers.get("x-requested-with") == "XMLHttpRequest":
            return Response(msgspec.json.encode(texts), media_type=JSON)
        return Response(msgspec.json.encode([text, texts, [], []]), media_type=SUGGESTIONS_TYPE)

    async def _answered(self, parameters: Mapping[str, str]) -> Response:
        """Answer as JSON, also if the request cannot be answered."""
        try:
            wanted, filters = _wanted(parameters), list(_filters(parameters))
            found = await self._crawl.searching.run(
                lambda: self._crawl.index.ask(lambda searcher: lenient_search(searcher, wanted, filters))
            )
            return Response(msgspec.json.encode(_answer(wanted.text, found)), media_type=JSON)
        except Problem as problem:
            return problem_response(problem)
        except CrawlctlError as err:
            return problem_response(problem_of(err))


def _wanted(parameters: Mapping[str, str]) -> Wanted:
    text = text_in(parameters)
    if not text:
        raise Problem(HTTPStatus.BAD_REQUEST, "the query is missing: add q=")
    page = number_in(parameters, "pageno", 1, low=1, high=MAX_RESULTS // PER_PAGE)
    safe = number_in(parameters, "safesearch", SAFES.index(SAFE), low=0, high=len(SAFES) - 1)
    return Wanted(text, offset=(page - 1) * PER_PAGE, safe=SAFES[safe])


def _filters(parameters: Mapping[str, str]) -> Iterator[str]:
    """Yield a language and a time range as filters of our query language."""
    language = parameters.get("language", "").partition("-")[0].lower()
    if language not in _NO_LANGUAGE:
        if not (language.isascii() and language.isalpha() and len(language) in (2, 3)):
            raise Problem(HTTPStatus.BAD_REQUEST, "language must be all or a code such as en or pt-BR")
        yield f"lang:{language}"
    given = parameters.get("time_range", "")
    if given:
        days = next((days for name, days in _DAYS.items() if name == given), None)
        if days is None:
            raise Problem(HTTPStatus.BAD_REQUEST, f"time_range must be {', '.join(get_args(TimeRange))}")
        yield f"after:{utc_day(int(time.time()) - days * 86_400)}"


def _answer(text: str, found: Found) -> SearxngAnswer:
    results = [_result(one) for one in found.results]
    corrections = [found.suggestion] if found.suggestion else []
    return SearxngAnswer(text, found.total, results, corrections)


def _result(one: FoundResult) -> SearxngResult:
    published = next((date for kind, date, _ in one.dates if kind != "visited"), None)
    return SearxngResult(
        one.url,
        one.title.text,
        one.snippet.text,
        f"{published}T00:00:00" if published else None,
        _parsed(one.url),
        [one.number],
        1 / one.number,
    )


def _parsed(url: str) -> list[str]:
    """Return a URL as Python's urlparse cuts it: scheme, host, path, parameters, query, fragment."""
    try:
        scheme, host, path, query, fragment = urlsplit(url)
    except ValueError:
        return ["", "", url, "", "", ""]
    return [scheme, host, path, "", query, fragment]
