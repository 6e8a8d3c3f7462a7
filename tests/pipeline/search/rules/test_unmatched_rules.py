from __future__ import annotations

from typing import Any

import pytest

from crawlctl.pipeline.search.rules.unmatched_rules import MOST_NAMED, unmatched_rules
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.tests.pipeline.search.rules.test_search_rules import crawl

A, B = "https://a.example/docs/a", "http://b.example/b"


def sentences(**rules: Any) -> list[str]:
    store = crawl({A: "tree", B: "tree"}, **rules)
    return unmatched_rules(store, load_current(store))


@pytest.mark.parametrize(
    ("rules", "wrong", "right"),
    [
        ({"pins": {"tree": [A.replace("https", "http")]}}, A.replace("https", "http"), A),
        ({"blocks": {"*": ["http://a.example/docs/"]}}, "http://a.example/docs/", "https://a.example/docs/"),
        ({"boosts": {"https://b.example": 2.0}}, "https://b.example", "http://b.example"),
        ({"boosts": {f"url:{B.replace('http', 'https')}": 2.0}}, B.replace("http", "https"), B),
    ],
)
def test_a_rule_with_the_wrong_scheme_is_told_with_the_right_one(
    rules: dict[str, Any], wrong: str, right: str
) -> None:
    (sentence,) = sentences(**rules)
    assert sentence == f"no page in the index matches {wrong}, but {right} does: write that"


def test_a_rule_for_an_unknown_page_waits_for_it() -> None:
    (sentence,) = sentences(pins={"tree": ["https://c.example/"]}, boosts={"a.example": 2.0})
    assert (
        sentence
        == "no page in the index matches https://c.example/ so far; the rule counts as soon as one does"
    )


def test_rules_that_match_and_crawls_without_rules_say_nothing() -> None:
    assert sentences(pins={"tree": [A]}, blocks={"*": ["b.example"]}, synonyms=["tree = oak"]) == []
    assert sentences() == []


def test_of_many_rules_only_some_are_named() -> None:
    found = sentences(boosts={f"{number}.example": 2.0 for number in range(MOST_NAMED + 7)})
    assert len(found) == MOST_NAMED + 1
    assert found[-1] == "7 more targets of the search rules match no page"
