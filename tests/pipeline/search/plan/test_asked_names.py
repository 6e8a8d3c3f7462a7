"""Names in queries: which are looked for, and that the page that defines one comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.search.answer.answer import answer
from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.plan.asked_names import asked_names
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.text.documents.page import Section
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.memory_store import MemoryStore
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.searcher import Searcher

API = "http://click.example/api"
TEXT = "Click has these. class Group get_command(ctx, name) finds a command. Box open_it opens it. "


@pytest.fixture
def index() -> Searcher:
    pages = [
        Page(API, title="API of Click", text=TEXT + "More words. " * 200, sections=_sections()),
        Page("http://a.example/talk", title="Talk", text="click.Group.get_command is nice. " * 9),
        Page("http://a.example/news", title="News", headings=("Get command",), text="click get command " * 9),
        Page("http://b.example/", title="Other", text="nothing of all this"),
        Page("http://b.example/box", title="Boxes", text="a box", sections=_sections()[1:]),
    ]
    store = MemoryStore()
    return open_index(store, write_index(store, [pages[:2], pages[2:]]), cached=False)


def _sections() -> tuple[Section, ...]:
    return (
        Section("click.Group.get_command", "get_command(ctx, name)", TEXT.index("get_command")),
        Section("click.Box.open_it", "open_it", TEXT.index("Box")),
    )


@pytest.mark.parametrize(
    ("leaves", "keys"),
    [
        ([["click", "group", "get_command"]], ["clickgroupgetcommand", "groupgetcommand"]),
        ([["scipy"], ["curve"], ["fit"]], ["scipycurvefit", "curvefit", "scipycurve"]),
        ([["curve_fit"]], ["curvefit"]),
        ([["scipy"], ["curve_fit"]], ["scipycurvefit", "curvefit"]),
        ([["tree"]], []),
        ([["utf", "8"]], []),
        ([["numpy", "ndarray", "t"]], ["numpyndarrayt", "ndarrayt"]),
        ([["a"], ["b"]], []),
        ([], []),
    ],
)
def test_the_names_of_a_query_are_its_words_with_or_without_the_first_or_last(
    leaves: list[list[str]], keys: list[str]
) -> None:
    assert [asked.key for asked in asked_names(leaves)] == keys


@pytest.mark.parametrize(
    "query",
    [
        "click.Group.get_command",
        "Group.get_command",
        "click get command",
        "get command click",
        "click get_command",
    ],
)
def test_a_page_that_defines_a_name_comes_before_pages_that_mention_it(index: Searcher, query: str) -> None:
    first = find(index, parse(query)).hits[0]
    assert first.url == API and not first.partial
    assert first.section is not None and first.section.anchor == "click.Group.get_command"
    assert first.shown_text.startswith(b"get_command(ctx, name)")


def test_the_rest_of_the_query_has_to_be_in_the_title_or_the_url(index: Searcher) -> None:
    hits = find(index, parse("click open it")).hits
    assert hits[0].url == API, "b.example/box defines open_it too, but says nothing of click"
    assert not [hit for hit in hits if hit.url.endswith("/box") and not hit.partial]


@pytest.mark.parametrize("query", ["click.Group.get_command", "click open it", "box open it"])
def test_both_evaluators_score_definitions_alike(index: Searcher, query: str) -> None:
    plan = plan_query(parse(query), index)
    assert plan.names and plan.loose is not None
    for step in (plan.step, plan.loose):
        plain = PlainEvaluator(index.reader, plan).matches(step)
        vector = VectorEvaluator(index.vector_lists, plan).matches(step)
        assert plain.best(9) == vector.best(9)
        assert plain.total == vector.total


@pytest.mark.parametrize(
    "query", ["title:click get command", '"get command"', "click -get command", "command"]
)
def test_queries_with_operators_and_single_words_ask_for_no_name(index: Searcher, query: str) -> None:
    assert plan_query(parse(query), index).names == ()


def test_the_answer_names_the_anchor_and_the_explanation_the_definition(index: Searcher) -> None:
    page = answer(index, parse("click get command"), SearchOptions(explain=True)).pages[0]
    assert page.anchor == "click.Group.get_command"
    assert page.snippet.text.startswith("get_command(ctx, name)")
    assert page.explanation is not None
    (part,) = [part for part in page.explanation.parts if part.label.startswith("name:")]
    assert part.reason == "the page defines it" and part.score > 0


def test_the_project_of_a_name_may_be_spelled_as_urls_can() -> None:
    section = Section("std::list::push_back", "push_back", 0)
    pages = [
        Page("http://a.example/cpp/list", title="Lists", text="push_back adds", sections=(section,)),
        Page("http://a.example/talk", title="Talk", text="c++ push back " * 9),
        *(Page(f"http://b.example/{number}", text="other words") for number in range(9)),
    ]
    store = MemoryStore()
    index = open_index(store, write_index(store, [pages]), cached=False)
    assert find(index, parse("c++ push back")).hits[0].url == "http://a.example/cpp/list"
