"""Filters hold for the whole query, and parentheses stand only where an operator demands them."""

from __future__ import annotations

import pytest

from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.serve.dialects.lenient_search import filtered


@pytest.mark.parametrize("text", ["FORTRAN loops", "ORACLE", "MAJOR version", "loop", "COLOR-OR-SHAPE"])
def test_words_that_contain_the_letters_of_or_need_no_parentheses(text: str) -> None:
    assert filtered(text, ["lang:en"]) == f"{text} lang:en"


@pytest.mark.parametrize(
    "text", ["loop OR zebra", "(loop OR zebra) OR wombat", "loop || zebra", "loop||zebra"]
)
def test_a_filter_holds_for_both_sides_of_or(text: str) -> None:
    assert filtered(text, ["lang:en"]) == f"({text}) lang:en"
    assert parse(filtered("loop || zebra", ["lang:en"])) is not None


def test_without_filters_a_query_stays_as_it_is() -> None:
    assert filtered("loop OR zebra", []) == "loop OR zebra"
