"""AgentTools: search, read a page, list the sites, explain a result; answers are short texts in Markdown.

Titles, snippets and pages were written by strangers. An agent must treat them as material, not as
instructions. So headings in the answers separate our words from theirs, and pages are returned as Markdown
without any HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import NothingMatched
from crawlctl.pipeline.serve.searching.found_results import search
from crawlctl.pipeline.serve.searching.search_request import (
    MAX_RESULTS,
    SearchRequest,
    Sort,  # the protocol describes the values of a tool by their types
    text_in,
)
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.search.answer.results import Explanation
    from crawlctl.pipeline.serve.searching.found_results import Found, FoundResult
    from crawlctl.pipeline.serve.served_crawl import ServedCrawl

MAX_SHOWN = 50  # the most results or sites per answer: an agent reads every word of them
MAX_CHARACTERS = 20_000  # the most characters of a page per answer
_MAX_DEPTH = 6  # the most levels of an explanation


class AgentTools:
    """The tools of agents for one crawl; wrong values raise a CrawlctlError or a Problem with the remedy."""

    def __init__(self, crawl: ServedCrawl) -> None:
        self._crawl = crawl

    async def search(self, query: str, limit: int = 10, offset: int = 0, sort: Sort = "score") -> str:
        """Return the results of a query as a list."""
        offset = _within(offset, 0, MAX_RESULTS - 1)
        limit = _within(limit, 1, min(MAX_SHOWN, MAX_RESULTS - offset))
        wanted = SearchRequest(_query(query), sort, limit, offset)
        found = await self._found(wanted)
        return "\n".join(_result_lines(found, wanted))

    async def read_page(self, url: str, offset: int = 0) -> str:
        """Return a page as Markdown, or its text if the archive may not show it."""

        def read() -> str:
            document = self._crawl.pages().document(url)
            try:
                return self._crawl.markdown(document.url)
            except NothingMatched:
                return document.text

        return _window(await self._crawl.reading.run(read), max(0, offset))

    async def list_sites(self, limit: int = MAX_SHOWN, offset: int = 0) -> str:
        """Return the hosts that have pages, the largest first."""
        contents = await self._crawl.searching.run(self._crawl.contents)
        offset, limit = max(0, offset), _within(limit, 1, MAX_SHOWN)
        pages, sites = counted(contents.pages, "page"), counted(len(contents.sites), "site")
        shown = contents.sites[offset : offset + limit]
        lines = [f"{pages} on {sites}:", *(f"- {host}: {counted(number, 'page')}" for host, number in shown)]
        if offset + limit < len(contents.sites):
            lines.append(f"More: list_sites with offset={offset + limit}.")
        return "\n".join(lines)

    async def explain(self, query: str, number: int = 1) -> str:
        """Return how the query was read, and the parts of the score of one of its results."""
        wanted = SearchRequest(_query(query), limit=1, offset=_within(number, 1, MAX_RESULTS) - 1)
        found = await self._found(wanted, explain=True)
        lines = [f"The query was read as: {found.read_as}", *found.notices]
        if not found.results:
            return "\n".join((*lines, f"It has no result {number}; pages that match: {found.total}."))
        (result,) = found.results
        lines.append(f"Result {number} is {result.url}" + (", a partial match" if result.is_partial else ""))
        if result.explanation is not None:
            lines += _explanation_lines(result.explanation)
        return "\n".join(lines)

    async def _found(self, wanted: SearchRequest, *, explain: bool = False) -> Found:
        return await self._crawl.searching.run(
            lambda: self._crawl.index.ask(lambda searcher: search(searcher, wanted, explain=explain))
        )


def _query(text: str) -> str:
    query = text_in({"q": text})
    if not query:
        raise NothingMatched("the query is empty; give the words to look for")
    return query


def _within(number: int, low: int, high: int) -> int:
    return max(low, min(number, high))


def _result_lines(found: Found, wanted: SearchRequest) -> Iterator[str]:
    partial = f", {found.partial} more with some of the words" if found.partial else ""
    yield f"{counted(found.total, 'page')} found{partial}."
    yield from found.notices
    if found.unknown:
        yield f"No page has: {', '.join(found.unknown)}."
    if found.suggestion:
        yield f"Did you mean: {found.suggestion}"
    for one in found.results:
        yield from _lines_of(one)
    if found.has_more and wanted.offset + wanted.limit < MAX_RESULTS:
        yield f"\nMore: search with offset={wanted.offset + wanted.limit}."


def _lines_of(one: FoundResult) -> Iterator[str]:
    dates = ", ".join(f"{kind} {date}" for kind, date, _ in one.dates)
    yield f"\n{one.number}. {one.title.text or one.url}"
    yield f"   {one.section.url if one.section else one.url}"
    yield f"   {dates}{'; has only some of the words' if one.is_partial else ''}"
    if one.snippet.text:
        yield f"   {one.snippet.text}"


def _explanation_lines(one: Explanation, depth: int = 0) -> Iterator[str]:
    yield f"{'  ' * depth}- {one.label}: {one.score:.3f}{f' ({one.reason})' if one.reason else ''}"
    if depth < _MAX_DEPTH:
        for part in one.parts:
            yield from _explanation_lines(part, depth + 1)


def _window(text: str, offset: int) -> str:
    """Return a part of a page, and where the next part begins."""
    part = text[offset : offset + MAX_CHARACTERS]
    if offset and not part:
        raise NothingMatched(f"the page has only {len(text):,} characters; give a smaller offset")
    after = offset + len(part)
    more = f"\n\n[{len(text) - after:,} more characters: read_page with offset={after}]"
    return part + more if after < len(text) else part
