from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.plan import planner
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.plan.steps import (
    AllOf,
    AnyOf,
    BestOf,
    PhraseOf,
    Terms,
)
from crawlctl.pipeline.search.query import tree
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from crawlctl.pipeline.store.local.store import LocalStore


def pages(*texts: str) -> list[Page]:
    return [Page(f"http://a.example/{number}", text=text) for number, text in enumerate(texts)]


def test_a_word_asked_for_twice_counts_twice(store: LocalStore) -> None:
    write_index(store, [pages("red tree", "house")])
    index = open_index(store)
    once, twice = (plan_query(parse(query), index).step for query in ("tree", "tree tree"))
    assert isinstance(once, Terms) and isinstance(twice, Terms)
    assert twice.weight == 2 * once.weight


def test_rare_words_weigh_more(store: LocalStore) -> None:
    write_index(store, [pages("tree", "tree", "red tree")])
    red, tree_ = plan_query(parse("red tree"), open_index(store)).step.leaves()
    assert red.weight > tree_.weight > 0


def test_denied_words_do_not_weigh(store: LocalStore) -> None:
    write_index(store, [pages("tree", "house")])
    step = plan_query(parse("tree -house"), open_index(store)).step
    assert isinstance(step, AllOf)
    assert [terms.weight > 0 for terms in step.leaves()] == [True, False]


def test_a_plain_query_comes_with_a_loose_one_and_others_do_not(store: LocalStore) -> None:
    write_index(store, [pages("an e-mail to a tree")])
    index = open_index(store)
    plain = plan_query(parse("e-mail to tree"), index)
    assert isinstance(plain.step, AllOf) and isinstance(plain.step.parts[0], PhraseOf)
    assert isinstance(plain.loose, AnyOf)
    assert [[terms.text for terms in part.leaves()] for part in plain.loose.parts] == [
        ["mail"],
        ["tree"],
        ["e", "mail"],
    ]
    assert plan_query(parse("e-mail AND tree"), index).loose is None


@pytest.mark.parametrize("query", ["c++ vector", "cpp vector"])
def test_of_two_spellings_the_better_one_counts(store: LocalStore, query: str) -> None:
    texts = {
        "cpp/at": "vector at",
        "c": "a vector of c++",
        "cpp/end": "the end of a vector of c++",
        "d": "vector",
    }
    write_index(store, [[Page(f"http://a.example/{path}", text=text) for path, text in texts.items()]])
    index = open_index(store)
    plan = plan_query(parse(query), index)
    assert isinstance(plan.step, AllOf) and isinstance(plan.step.parts[0], BestOf)
    assert isinstance(plan.loose, AnyOf) and any(isinstance(part, BestOf) for part in plan.loose.parts)
    for evaluator in (PlainEvaluator(index.reader, plan), VectorEvaluator(index.vector_lists, plan)):
        found = evaluator.matches(plan.step).best(9)
        named = {
            record.url[17:]: one.score
            for one, record in zip(found, index.records(one.document for one in found), strict=True)
        }
        assert named.keys() == {"cpp/at", "c", "cpp/end"}
        assert named["cpp/end"] < named["c"] + named["cpp/at"] / 2, "two spellings are not two words"


def test_a_segment_without_a_word_is_left_alone(store: LocalStore) -> None:
    write_index(store, [pages("red tree"), [Page("http://b.example/", text="tree")]])
    index = open_index(store)
    both, either = (plan_query(parse(query), index).step for query in ("AND red tree", "OR red tree"))
    assert sorted(both.can_match(segment) for segment in (0, 1)) == [False, True]
    assert all(either.can_match(segment) for segment in (0, 1))
    assert both.postings == 3


@pytest.mark.parametrize(
    ("query", "postings"),
    [
        ("*", 3),
        ("* NOT red", 4),
        ("red OR *", 4),
        ("red site:a.example", 1),
        ("site:a.example", 3),
        ("tree NOT site:a.example", 6),
    ],
)
def test_the_work_of_a_plan_counts_documents_only_where_they_are_walked_through(
    store: LocalStore, query: str, postings: int
) -> None:
    frontier = [Page("http://c.example/unread", anchors=("green",), language="")]
    write_index(store, [pages("red tree", "tree", "tree")], frontier)
    assert plan_query(parse(query), open_index(store)).step.postings == postings


def test_scores_of_many_words_still_fit(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "_MAX_SCORE", (1 << 27) - 1)  # as if scores were 16 times as high
    words = [f"word{number}" for number in range(250)]
    write_index(store, [pages(" ".join(words), *[""] * 30)])
    index = open_index(store)
    query = tree.Query(tree.And(tuple(map(tree.Word, words))), True, (), "")
    plan = plan_query(query, index)
    assert plan.scale < 1024
    best = PlainEvaluator(index.reader, plan).matches(plan.step).best(1)
    assert best == VectorEvaluator(index.vector_lists, plan).matches(plan.step).best(1)
    assert 0 < best[0].score < 2**27


def test_too_many_words_are_refused(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "MAX_WORDS", 2)
    write_index(store, [pages("tree")])
    with pytest.raises(QueryError, match="more than 2 different words"):
        plan_query(parse("a b c"), open_index(store))
