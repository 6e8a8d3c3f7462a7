"""Pages that lack a word stand among those that have all, and never at the end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.search.answer.lacking_one import merged, reduced
from crawlctl.pipeline.search.evaluate.matches import Ranked

scores = st.lists(st.integers(1, 50), max_size=20).map(lambda some: sorted(some, reverse=True))


@given(scores, scores)
def test_others_stand_before_documents_with_lower_scores(full: list[int], lacking: list[int]) -> None:
    first = [Ranked(number, score) for number, score in enumerate(full)]
    others = [Ranked(100 + number, score) for number, score in enumerate(lacking)]
    found = merged(first, others)
    least = min(full, default=51)
    assert sorted(found) == sorted([*first, *(one for one in others if one.score > least)])
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert [one for one in found if one.document < 100] == first


@given(scores, scores, st.integers(0, 20))
def test_a_shorter_ranking_is_the_beginning_of_the_whole(
    full: list[int], lacking: list[int], count: int
) -> None:
    first = [Ranked(number, score) for number, score in enumerate(full)]
    others = [Ranked(100 + number, score) for number, score in enumerate(lacking)]
    short = merged(first[:count], others)[:count]
    assert short == merged(first, others)[: len(short)]


@given(scores)
def test_a_score_and_what_was_taken_from_it_make_the_whole(some: list[int]) -> None:
    whole = [Ranked(number, score) for number, score in enumerate(some)]
    assert [one.score + one.lacking for one in reduced(whole)] == some
