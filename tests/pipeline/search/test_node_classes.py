"""Whoever asks a node of the query tree for its class knows all classes, so that none can be forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest

from crawlctl.pipeline.search.answer import needles
from crawlctl.pipeline.search.plan import planner, synonyms
from crawlctl.pipeline.search.plan.filter_plans import FILTER_STEPS
from crawlctl.pipeline.search.query import tree
from crawlctl.pipeline.search.query.filters import (
    FILTERS,
    After,
    AnyFilter,
    Before,
    DocumentType,
    FieldValue,
    Language,
    Site,
)
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.search.query.lexer import LEAVES, Lexer
from crawlctl.pipeline.search.query.node import BaseLeaf
from crawlctl.pipeline.serve.searching import filter_links, nothing_found, page_results

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = set(get_args(tree.FieldLeaf))
NODES = set(get_args(tree.Node))
# How a person writes a leaf of each class.
WRITTEN: dict[type, str] = {
    tree.Word: "windows",
    tree.Exact: '"windows"',
    tree.Phrase: '"windows functions"',
    tree.Prefix: "wind*",
    tree.Range: "1990..2000",
    tree.AllPages: "*",
    Site: "site:a.example",
    Language: "lang:en",
    Before: "before:2024",
    After: "after:2024",
    DocumentType: "type:pdf",
    FieldValue: "in:author=knuth",
}


def test_there_is_an_example_of_every_leaf() -> None:
    assert set(WRITTEN) == set(get_args(tree.Leaf)) == {one for one in NODES if issubclass(one, BaseLeaf)}


@pytest.mark.parametrize(("kind", "text"), WRITTEN.items())
def test_a_leaf_is_read_from_what_it_is_written_as(kind: type, text: str) -> None:
    query = parse(text)
    assert type(query.tree) is kind
    assert parse(query.tree.infix()).tree == query.tree


@pytest.mark.parametrize("keyword", tree.KEYWORDS)
def test_every_keyword_is_an_operator_but_a_word_in_a_text_in_capitals(keyword: str) -> None:
    assert next(iter(Lexer(keyword).tokens())).kind == keyword
    assert any("are read as words" in notice for notice in parse(f"BEST BARS {keyword} ME TONIGHT").notices)
    assert parse(tree.Word(keyword).infix()).tree == tree.Word(keyword)  # printed in quotes


@pytest.mark.parametrize("text", [*WRITTEN.values(), "a b", "a OR b", "a NOT b"])
def test_a_node_is_made_again_with_its_own_parts(text: str) -> None:
    for node in _nodes(parse(text).tree):
        assert node.with_parts(node.parts) == node


def test_every_node_with_parts_is_tried() -> None:
    inner = {type(node) for node in _nodes(parse("(a OR b) NOT c").tree)}
    assert inner >= {one for one in NODES if not issubclass(one, BaseLeaf)}


def _nodes(node: tree.Node) -> Iterator[tree.Node]:
    yield node
    for part in node.parts:
        yield from _nodes(part)


def test_the_planner_has_a_step_for_every_node() -> None:
    assert set(planner._STEPS) | set(planner._WORDS) == NODES
    assert set(planner._WORDS) == WORDS | {Site}  # a site may have a path, which is words


def test_every_filter_can_be_read_planned_and_linked() -> None:
    filters = set(get_args(AnyFilter))
    assert set(FILTERS.values()) == filters
    assert set(FILTER_STEPS) | {Site} == filters
    assert set(filter_links._FILTERS) == filters


@pytest.mark.parametrize("rows", [needles._FORMS, synonyms._WORDS_OF, nothing_found._WORDS_OF])
def test_a_table_of_leaves_that_ask_for_words_has_a_row_for_each(rows: dict[type, object]) -> None:
    assert set(rows) == WORDS


@pytest.mark.parametrize("text", WRITTEN.values())
def test_symbols_beside_a_leaf_are_meant_as_operators(text: str) -> None:
    assert "&& is read as AND" in parse(f"{text} && other").notices
    assert "&& is read as AND" in parse(f"other && {text}").notices


@pytest.mark.parametrize("text", WRITTEN.values())
def test_a_leaf_inside_other_nodes_is_found_by_those_who_look_for_a_site(text: str) -> None:
    inside = parse(f"(other OR {text}) NOT more").tree
    assert page_results._names_site(inside) is (text == WRITTEN[Site])


def test_every_kind_of_token_that_is_asked_for_is_in_an_example() -> None:
    kinds = {token.kind for text in WRITTEN.values() for token in Lexer(text).tokens()}
    assert kinds >= LEAVES
