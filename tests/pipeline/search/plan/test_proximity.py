"""Both evaluators add what the definition of proximity says; words side by side come first."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.plan import proximity as near
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.tests.effort import examples
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.memory_store import MemoryStore
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.plan.proximity import Proximity
    from crawlctl.pipeline.search.plan.query_plan import Plan
    from crawlctl.pipeline.search.plan.steps import Step

HOST = "http://h.example"
WORDS = ("red", "green", "tree", "leaf", "the")  # `the` is a stop word
PREFIXES = ("gr*", "green*", "t*", "re*")
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
queries_with_prefixes = st.lists(st.sampled_from((*WORDS, *PREFIXES)), min_size=1, max_size=5).map(" ".join)


def index_of(*pages: Page) -> Searcher:
    store = MemoryStore()
    half = len(pages) // 2
    return open_index(store, write_index(store, [list(pages[:half]), list(pages[half:])]), cached=False)


def made_of(pages: list[tuple[str, str, str]]) -> list[Page]:
    """Return pages with these titles, headings and texts."""
    return [
        Page(f"{HOST}/{number}", title=title, text=text, headings=(heading,) if heading else ())
        for number, (title, heading, text) in enumerate(pages)
    ]


def order(searcher: Searcher, query: str) -> list[str]:
    return [hit.url.rpartition("/")[2] for hit in find(searcher, parse(query)).hits]


def brute_near(proximity: Proximity, fields: dict[str, list[str]]) -> int:
    """Return what proximity adds, by its definition: no stemming, anchors apart.

    A prefix is side by side with nothing; where it is the whole query, its fields count.
    """
    words = [word.text for word in proximity.words]
    weights = [word.weight for word in proximity.words]
    score = 0
    for (before, first), (here, second) in pairwise(enumerate(words)):
        distance = proximity.offsets[here] - proximity.offsets[before]
        for name, share in zip(INDEXED_FIELDS, near.PAIR_WEIGHTS, strict=True):
            found = fields.get(name, [])
            pairs = zip(found, found[distance:], strict=False)
            score += share * ((weights[before] + weights[here]) // 2) * ((first, second) in set(pairs))
    if _whole(proximity, fields["heading"]):
        score += near.WHOLE_HEADING * sum(weights)
    if _whole(proximity, fields["title"]):
        score += proximity.title_score(len(fields["title"]))
    return score


def _whole(proximity: Proximity, found: list[str]) -> bool:
    if len(proximity.words) == 1:
        return any(fnmatchcase(word, proximity.words[0].text) for word in found)
    offsets = [offset - proximity.offsets[0] for offset in proximity.offsets]
    ends = range(len(found) - offsets[-1])
    words = [word.text for word in proximity.words]
    return any([found[start + offset] for offset in offsets] == words for start in ends)


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(texts, texts, texts), min_size=2, max_size=6), texts.filter(str.strip))
def test_both_evaluators_add_what_the_definition_says(pages: list[tuple[str, str, str]], query: str) -> None:
    made = made_of(pages)
    index = index_of(*made)
    plan = plan_query(parse(query), index)
    assert plan.loose is not None
    check_near(index, plan, plan.loose, made)
    index.close()


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(texts, texts, texts), min_size=2, max_size=6), queries_with_prefixes)
def test_both_evaluators_add_what_the_definition_says_of_prefixes(
    pages: list[tuple[str, str, str]], query: str
) -> None:
    made = made_of(pages)
    index = index_of(*made)
    plan = plan_query(parse(query), index)
    if plan.proximity is not None:
        check_near(index, plan, plan.step, made)
    index.close()


def check_near(index: Searcher, plan: Plan, step: Step, made: list[Page]) -> None:
    """Compare what both evaluators add to the scores of pages with the definition."""
    assert plan.proximity is not None
    plain = PlainEvaluator(index.reader, plan).matches(step).rescored(plan.proximity, 5)
    vector = VectorEvaluator(index.vector_lists, plan).matches(step).rescored(plan.proximity, 5)
    assert plain == vector
    by_url = {page.url: page for page in made}
    for ranked, record in zip(plain, index.records(one.document for one in plain), strict=True):
        page = by_url[record.url]
        fields = {"body": page.text.split(), "title": page.title.split()}
        fields["heading"] = page.headings[0].split() if page.headings else []
        assert ranked.near == brute_near(plan.proximity, fields)


def test_a_title_that_is_the_query_comes_before_pages_that_repeat_its_words_apart() -> None:
    index = index_of(
        Page(f"{HOST}/apart", title="PostgreSQL on Windows", text="window postgresql functions " * 9),
        Page(
            f"{HOST}/named",
            title="Window Functions",
            headings=("Window Functions",),
            text="Window Functions: PostgreSQL has them " + "too " * 40,
        ),
        Page(f"{HOST}/other", text="a tree"),
    )
    assert order(index, "postgresql window functions")[0] == "named"


def others() -> list[Page]:
    """Pages without the words of a query, so that each of its words tells something."""
    return [Page(f"{HOST}/other{number}", text="y") for number in range(12)]


def test_a_title_that_is_the_query_comes_before_longer_titles_with_it() -> None:
    index = index_of(
        Page(f"{HOST}/longer", title="Window functions of seven databases", text="a window has functions"),
        Page(f"{HOST}/named", title="Window functions", text="rows around a row"),
        *others(),
    )
    assert order(index, "window functions") == ["named", "longer"]


def test_a_heading_that_has_the_whole_query_comes_before_headings_that_have_its_pairs() -> None:
    index = index_of(
        Page(f"{HOST}/pairs", headings=("red green", "green leaf"), text="red"),
        Page(f"{HOST}/whole", headings=("red green leaf",), text="words"),
        *others(),
    )
    assert order(index, "red green leaf") == ["whole", "pairs"]


@pytest.mark.parametrize("query", ["tree leaf", "leaf tree"])
def test_the_order_of_the_words_counts(query: str) -> None:
    index = index_of(
        Page(f"{HOST}/tree", text="x", headings=("tree leaf",)),
        Page(f"{HOST}/leaf", text="x", headings=("leaf tree",)),
        Page(f"{HOST}/none", text="y"),
    )
    assert order(index, query)[0] == query.partition(" ")[0]


def test_stop_words_keep_their_place() -> None:
    index = index_of(
        Page(f"{HOST}/near", text="how you reverse the list of words"),
        Page(f"{HOST}/far", text="reverse words of the other list"),
        Page(f"{HOST}/none", text="y"),
    )
    assert order(index, "reverse a list")[0] == "near"


def test_words_do_not_stand_side_by_side_across_two_pages() -> None:
    index = index_of(
        Page(f"{HOST}/a", text="leaf green red"),
        Page(f"{HOST}/b", text="tree leaf red"),
        Page(f"{HOST}/c", text="y"),
        Page(f"{HOST}/d", text="z"),
    )
    for query in ("red the tree", "red tree", "tree the the red"):
        plan = plan_query(parse(query), index)
        assert plan.proximity is not None and plan.loose is not None
        for evaluator in (PlainEvaluator(index.reader, plan), VectorEvaluator(index.vector_lists, plan)):
            assert not any(one.near for one in evaluator.matches(plan.loose).rescored(plan.proximity, 9))


def test_documents_behind_those_scored_again_follow_by_their_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("plain_evaluator", "vector_evaluator"):
        monkeypatch.setattr(f"crawlctl.pipeline.search.evaluate.{module}.RESCORED", 2)
    pages = [Page(f"{HOST}/{number}", text="tree " * number + "leaf x" * 3) for number in range(1, 7)]
    index = index_of(*pages, Page(f"{HOST}/near", text="tree leaf " + "x " * 50))
    plan = plan_query(parse("tree leaf"), index)
    assert plan.proximity is not None
    for evaluator in (PlainEvaluator(index.reader, plan), VectorEvaluator(index.vector_lists, plan)):
        matches = evaluator.matches(plan.step)
        first, found = matches.best(9), matches.rescored(plan.proximity, 9)
        assert {one.document for one in found[:2]} == {one.document for one in first[:2]}
        assert found[2:] == first[2:]
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_the_order_by_date_is_left_alone() -> None:
    index = index_of(Page(f"{HOST}/a", text="red tree"), Page(f"{HOST}/b", text="tree red"))
    hits = find(index, parse("red tree"), SearchOptions(sort="date")).hits
    assert {hit.url for hit in hits} == {f"{HOST}/a", f"{HOST}/b"}


def test_an_explanation_names_where_words_are_near() -> None:
    index = index_of(Page(f"{HOST}/a", title="red tree", text="red tree"), Page(f"{HOST}/b", text="x"))
    (hit,) = find(index, parse("red tree"), SearchOptions(explain=True)).hits
    assert hit.explanation is not None
    parts = {(part.label, part.reason) for part in hit.explanation.parts}
    assert ("near: red tree", "side by side in body, title") in parts
    assert hit.explanation.score == pytest.approx(sum(part.score for part in hit.explanation.parts))


@pytest.mark.parametrize("evaluator", ["plain", "vector"])
def test_a_word_of_a_prefix_in_all_fields_of_a_short_page_is_found(evaluator: str) -> None:
    """In place of positions it has the bits of its fields, 7 here: more than the body has words."""
    index = index_of(
        Page(f"{HOST}/short", title="green", text="a green tree", headings=("green",)),
        Page(f"{HOST}/other", text="greens"),
        Page(f"{HOST}/none", text="red"),
    )
    plan = plan_query(parse("gree*"), index)
    assert plan.proximity is not None
    made = (
        PlainEvaluator(index.reader, plan)
        if evaluator == "plain"
        else VectorEvaluator(index.vector_lists, plan)
    )
    first, last = made.matches(plan.step).rescored(plan.proximity, 5)
    whole = near.WHOLE_TITLE + near.WHOLE_HEADING
    assert (first.near, last.near) == (whole * plan.proximity.whole_weight, 0)


def test_a_prefix_is_side_by_side_with_nothing() -> None:
    """Its bits, 1 for the body, are no place before the second word of the body."""
    index = index_of(
        Page(f"{HOST}/1", text="x y tree green"), Page(f"{HOST}/2", text="red"), Page(f"{HOST}/3", text="red")
    )
    plan = plan_query(parse("gree* tree"), index)
    assert plan.proximity is not None
    for evaluator in (PlainEvaluator(index.reader, plan), VectorEvaluator(index.vector_lists, plan)):
        assert [one.near for one in evaluator.matches(plan.step).rescored(plan.proximity, 5)] == [0]


@pytest.mark.parametrize("query", ["gree*", "gree* tree", "tree gree*", "1..3"])
def test_both_evaluators_agree_on_prefixes_and_ranges(query: str) -> None:
    """Words as they are written have the fields that they stand in, and no positions."""
    index = index_of(
        Page(f"{HOST}/1", title="green tree", text="a tree", anchors=("greener 2",)),
        Page(f"{HOST}/2", text="a green tree 3", headings=("greens",)),
        Page(f"{HOST}/3", title="tree", text="green 1 2 tree"),
    )
    plan = plan_query(parse(query), index)
    assert plan.proximity is not None
    plain = PlainEvaluator(index.reader, plan).matches(plan.step).rescored(plan.proximity, 5)
    vector = VectorEvaluator(index.vector_lists, plan).matches(plan.step).rescored(plan.proximity, 5)
    assert plain and plain == vector


def test_in_segments_of_older_versions_the_stems_of_a_prefix_have_positions() -> None:
    store = MemoryStore()
    older = Page(f"{HOST}/old", text="a green tree"), Page(f"{HOST}/apart", text="tree x green")
    index = open_index(
        store, write_index(store, [older, [Page(f"{HOST}/new", text="green tree")]], older=1), cached=False
    )
    plan = plan_query(parse("gree* tree"), index)
    assert plan.proximity is not None
    for evaluator in (PlainEvaluator(index.reader, plan), VectorEvaluator(index.vector_lists, plan)):
        ranked = evaluator.matches(plan.step).rescored(plan.proximity, 5)
        near_by_url = {
            record.url.rpartition("/")[2]: one.near
            for one, record in zip(ranked, index.records(one.document for one in ranked), strict=True)
        }
        pair = near.PAIR_WEIGHTS[0] * plan.proximity.pair_weights[0]
        assert near_by_url == {"old": pair, "apart": 0, "new": 0}
