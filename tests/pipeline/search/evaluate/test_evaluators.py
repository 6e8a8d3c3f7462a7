"""Both evaluators find what brute force finds, for every operator, and agree on order and scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.query import tree
from crawlctl.tests.effort import examples
from crawlctl.tests.pipeline.search.answers import agreed_answers
from crawlctl.tests.pipeline.search.brute_force import BruteForce, Page
from crawlctl.tests.pipeline.search.memory_store import MemoryStore
from crawlctl.tests.pipeline.search.small_index import write_index
from crawlctl.tests.pipeline.search.strategies import pages, trees, words

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.searcher import Searcher


def _without_repeats(segments: list[list[Page]]) -> list[list[Page]]:
    seen: set[str] = set()
    kept = []
    for segment in segments:
        fresh = list({page.url: page for page in segment if page.url not in seen}.values())
        seen.update(page.url for page in fresh)
        if fresh:
            kept.append(fresh)
    return kept


crawls = st.lists(st.lists(pages, min_size=1, max_size=8), min_size=1, max_size=3).map(_without_repeats)


def small_index(segments: list[list[Page]]) -> Searcher:
    store = MemoryStore()
    return open_index(store, write_index(store, segments), cached=False)


@settings(max_examples=examples(40), deadline=None)
@given(crawls, st.lists(trees, min_size=1, max_size=8), st.booleans())
def test_both_evaluators_find_what_brute_force_finds(
    segments: list[list[Page]], nodes: list[tree.Node], by_date: bool
) -> None:
    index = small_index(segments)
    reference = BruteForce([page for segment in segments for page in segment])
    for node in nodes:
        assert agreed_answers(index, node, by_date=by_date) == reference.find(node)
    index.close()


@settings(max_examples=examples(25), deadline=None)
@given(crawls, st.lists(words, min_size=1, max_size=4))
def test_a_plain_query_is_loosened_to_pages_with_any_telling_word(
    segments: list[list[Page]], typed: list[str]
) -> None:
    index = small_index(segments)
    nodes = tuple(map(tree.Word, typed))
    plan = plan_query(tree.Query(tree.And(nodes) if len(nodes) > 1 else nodes[0], True, (), ""), index)
    assert plan.loose is not None
    full = PlainEvaluator(index.reader, plan).matches(plan.step).best(index.reader.size)
    plain = PlainEvaluator(index.reader, plan).matches(plan.loose).best(index.reader.size)
    assert plain == VectorEvaluator(index.vector_lists, plan).matches(plan.loose).best(index.reader.size)
    assert {one.document for one in full} <= {one.document for one in plain}
    if plan.lacking_one is not None:
        lacking = PlainEvaluator(index.reader, plan).matches(plan.lacking_one).best(index.reader.size)
        vector = VectorEvaluator(index.vector_lists, plan).matches(plan.lacking_one)
        assert lacking == vector.best(index.reader.size)
        found = {one.document for one in lacking}
        assert not found & {one.document for one in full}
        assert found <= {one.document for one in plain}
    index.close()


@settings(max_examples=examples(25), deadline=None)
@given(crawls, st.lists(words, min_size=3, max_size=6, unique=True))
def test_most_words_in_titles_and_headings_are_counted_as_by_hand(
    segments: list[list[Page]], typed: list[str]
) -> None:
    index = small_index(segments)
    plan = plan_query(tree.Query(tree.And(tuple(map(tree.Word, typed))), True, (), ""), index)
    if plan.most is not None:
        evaluator = PlainEvaluator(index.reader, plan)
        documents = [part.documents() for part in map(evaluator.matches, plan.most.parts)]
        expected = [
            one
            for one in range(index.reader.size)
            if sum(one in some for some in documents) >= plan.most.least
        ]
        assert list(evaluator.matches(plan.most).documents()) == expected
        assert list(VectorEvaluator(index.vector_lists, plan).matches(plan.most).documents()) == expected
    index.close()
