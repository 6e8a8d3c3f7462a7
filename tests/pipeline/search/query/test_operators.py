from __future__ import annotations

import pytest

from crawlctl.pipeline.search.query.filters import FILTERS
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.search.query.operators import OPERATORS, help_lines, markdown_table, prompt_lines
from crawlctl.pipeline.search.query.tree import FIELDS


@pytest.mark.parametrize("example", [example for operator in OPERATORS for example in operator.examples])
def test_every_example_is_a_query_without_notices(example: str) -> None:
    assert parse(example).notices == ()


def test_every_field_and_filter_is_explained() -> None:
    table = markdown_table()
    assert all(f"`{name}:" in table for name in (*FIELDS, *FILTERS))


def test_the_help_has_a_line_per_operator_that_fits_a_terminal() -> None:
    lines = list(help_lines())
    assert len(lines) >= len(OPERATORS)
    assert max(map(len, lines)) < 78


def test_the_help_of_the_prompt_has_the_operators_of_every_day_and_fits_the_terminal() -> None:
    narrow, wide = (list(prompt_lines(room, ("exit", "ends it"))) for room in (40, 80))
    assert max(map(len, narrow)) <= 40 < max(map(len, wide)) < 80
    assert not any(line.startswith("heading:") for line in (*narrow, *wide))
    assert "title:json        have the word in the" in narrow
    assert "title:json                  have the word in the title" in wide
    assert narrow[-1].split() == wide[-1].split() == ["exit", "ends", "it"]
