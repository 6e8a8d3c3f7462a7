"""Filters as links: what a link says is what its query asks for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from crawlctl.pipeline.search.answer.results import Facet, FacetCount
from crawlctl.pipeline.search.query.filters import Language, Site
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.search.query.tree import And
from crawlctl.pipeline.serve.searching.filter_links import MAX_FACETS, MAX_VALUES, FilterLinks
from crawlctl.pipeline.serve.searching.search_request import MAX_CHARACTERS
from crawlctl.tests.effort import examples
from crawlctl.tests.pipeline.search.strategies import trees


@pytest.mark.parametrize(
    ("query", "filtered"),
    [
        ("event loop", "event loop site:a.example"),
        ("event  OR loop", "(event OR loop) site:a.example"),
        ("OR event loop", "(event OR loop) site:a.example"),
        ("-loop event", "-loop event site:a.example"),
        ("*", "* site:a.example"),
        ("loop (", "loop site:a.example"),
        ('"event loop" lang:de', '"event loop" lang:de site:a.example'),
    ],
)
def test_a_filter_is_added_to_all_of_a_query(query: str, filtered: str) -> None:
    assert FilterLinks(parse(query)).with_filters((Site("a.example"),)) == filtered


@pytest.mark.parametrize(
    ("query", "chosen"),
    [
        ("event loop", []),
        ("event LANG:DE loop", [("lang:de", "event loop")]),
        ("site:a.example", [("site:a.example", "*")]),
        ("-loop type:pdf", [("type:pdf", "* NOT loop")]),
        ("(site:a.example OR site:b.example) loop", []),
        ("loop -site:a.example", []),
        ("loop after:2024 before:2025", [("year:2024", "loop")]),
        ("loop before:2025 lang:de", [("before:2025", "loop lang:de"), ("lang:de", "loop before:2025")]),
        ('in:"author=ann lee" loop', [('in:"author=ann lee"', "loop")]),
    ],
)
def test_the_filters_of_a_query_can_be_taken_away(query: str, chosen: list[tuple[str, str]]) -> None:
    links = FilterLinks(parse(query)).chosen()
    assert [(link.label, link.query) for link in links] == chosen


@settings(max_examples=examples(25), deadline=None)
@given(trees.map(lambda tree: tree.infix()))
def test_a_filter_that_is_added_holds_for_the_whole_and_can_be_taken_away(text: str) -> None:
    query, added = parse(text), Language("xx")
    filtered = parse(FilterLinks(query).with_filters((added,)))
    assert isinstance(filtered.tree, And) or filtered.tree == added
    parts = filtered.tree.parts if isinstance(filtered.tree, And) else (filtered.tree,)
    assert added in parts
    assert parse(FilterLinks(filtered).without((added,))).tree == query.tree


def test_values_that_no_filter_can_ask_for_are_no_links() -> None:
    counts = {"site": ("a.example", "[::1]:81"), "type": ("", "pdf"), "in:author": ('ann "x" lee', "ann lee")}
    facets = [
        Facet(name, tuple(FacetCount(value, 1) for value in values), complete=True)
        for name, values in counts.items()
    ]
    found = FilterLinks(parse("loop")).of_facets(facets, 2)
    assert [(one.name, [link.query for link in one.links]) for one in found] == [
        ("site", ["loop site:a.example", "loop site:[::1]:81"]),
        ("type", ["", "loop type:pdf"]),
        ("author", ["", 'loop in:"author=ann lee"']),
    ]


def test_a_facet_in_which_all_pages_are_equal_is_left_out_unless_it_was_chosen() -> None:
    facet = Facet("language", (FacetCount("de", 3),), complete=True)
    assert FilterLinks(parse("loop")).of_facets([facet], 3) == []
    (kept,) = FilterLinks(parse("loop lang:de")).of_facets([facet], 3)
    assert [(link.is_chosen, link.query) for link in kept.links] == [(True, "loop")]


def test_a_page_keeps_its_budget_of_links() -> None:
    years = tuple(FacetCount(str(2000 + number), 1) for number in range(10))
    facets = [Facet(f"in:field{number}", years, complete=True) for number in range(10)]
    found = FilterLinks(parse("loop")).of_facets(facets, 10)
    assert [len(one.links) for one in found] == [MAX_VALUES] * MAX_FACETS
    assert not any(one.is_complete for one in found)


def test_a_query_that_a_filter_makes_too_long_is_no_link() -> None:
    query = parse("loop " * (MAX_CHARACTERS // 5 - 2))
    assert FilterLinks(query).with_filters((Site("a-long-name.example"),)) == ""
    (facet,) = FilterLinks(query).of_facets([Facet("language", (FacetCount("de", 1),), complete=True)], 2)
    assert [(link.label, bool(link.query)) for link in facet.links] == [("de", True)], "this one fits"
