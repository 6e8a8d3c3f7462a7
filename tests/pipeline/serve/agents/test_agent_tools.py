"""What an agent is told."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import NothingMatched
from crawlctl.pipeline.serve.agents import agent_tools
from crawlctl.pipeline.serve.agents.agent_tools import AgentTools
from crawlctl.tests.pipeline.serve.served_web import LOOP, NO_COPY, NUMBERED, PAGES, UNSPOKEN

if TYPE_CHECKING:
    from crawlctl.pipeline.serve.served_crawl import ServedCrawl


@pytest.fixture
def tools(served: ServedCrawl) -> AgentTools:
    return AgentTools(served)


def test_a_search_lists_titles_addresses_dates_and_snippets(tools: AgentTools) -> None:
    lines = asyncio.run(tools.search("asynchronous generator")).splitlines()
    assert lines[:4] == ["1 page found.", "", "1. The event loop", f"   {LOOP}#running%20loops"]
    assert "published 2020-03-04" in lines[4]
    assert "call the loop" in lines[5]


def test_more_results_are_announced_until_there_are_none(tools: AgentTools) -> None:
    first = asyncio.run(tools.search(UNSPOKEN, limit=20))
    assert first.endswith("\nMore: search with offset=20.")
    rest = asyncio.run(tools.search(UNSPOKEN, limit=20, offset=20))
    assert "\n25. " in rest and "More:" not in rest


def test_a_better_spelling_is_told(tools: AgentTools) -> None:
    said = asyncio.run(tools.search("asynchronuos"))
    assert "No page has: asynchronuos.\nDid you mean: asynchronous" in said


def test_a_page_is_read_in_parts(tools: AgentTools, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = asyncio.run(tools.read_page(LOOP))
    assert "## Running loops" in whole
    monkeypatch.setattr(agent_tools, "MAX_CHARACTERS", 50)
    part = asyncio.run(tools.read_page(LOOP))
    assert part == f"{whole[:50]}\n\n[{len(whole) - 50} more characters: read_page with offset=50]"
    assert asyncio.run(tools.read_page(LOOP, len(whole) - 10)) == whole[-10:]
    with pytest.raises(NothingMatched, match="give a smaller offset"):
        asyncio.run(tools.read_page(LOOP, 10**6))


def test_a_page_that_wants_no_copies_is_read_as_text(tools: AgentTools) -> None:
    assert asyncio.run(tools.read_page(NO_COPY)) == "aardvark one"


def test_sites_are_listed_the_largest_first(tools: AgentTools) -> None:
    said = asyncio.run(tools.list_sites(limit=1))
    assert said == (
        f"{len(PAGES)} pages on 3 sites:\n- many.example: {NUMBERED} pages\nMore: list_sites with offset=1."
    )


def test_a_score_is_explained_by_its_parts(tools: AgentTools) -> None:
    lines = asyncio.run(tools.explain("event loop")).splitlines()
    assert lines[:2] == ["The query was read as: event loop", f"Result 1 is {LOOP}"]
    assert any("event" in line for line in lines[2:]), lines
    nothing = asyncio.run(tools.explain("event loop", 99))
    assert nothing.endswith("It has no result 99; pages that match: 1.")


def test_an_empty_query_is_refused(tools: AgentTools) -> None:
    with pytest.raises(NothingMatched, match="give the words"):
        asyncio.run(tools.search("  "))
