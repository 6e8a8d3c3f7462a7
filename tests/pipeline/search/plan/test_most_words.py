"""Which pages that lack a word of a query may stand before those that have all words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.search.plan.most_words import most_words, remaining
from crawlctl.pipeline.search.plan.proximity import Proximity
from crawlctl.pipeline.search.plan.steps import MostOf, Terms


def _most_of(*words: str) -> MostOf | None:
    terms = tuple(Terms(word, (word.encode(),), {}, weight=3) for word in words)
    return most_words(Proximity(terms, terms, tuple(range(len(terms))), len(terms)))


def test_all_words_but_one_are_wanted_in_titles_and_headings() -> None:
    step = _most_of("c++", "smart", "pointers")
    assert step is not None
    assert step.least == 2
    naming = 1 << INDEXED_FIELDS.index("title") | 1 << INDEXED_FIELDS.index("heading")
    assert [(part.text, part.mask, part.weight) for part in step.parts] == [
        ("c++", naming, 0),
        ("smart", naming, 0),
        ("pointers", naming, 0),
    ]


def test_short_queries_long_texts_and_repeated_words_want_all_words() -> None:
    assert _most_of("smart", "pointers") is None
    assert _most_of("new", "york", "new", "york") is None
    assert _most_of(*"abcdefg") is None
    assert most_words(None) is None


@given(st.integers(0, 1 << 40), st.integers(0, 1 << 40))
def test_what_remains_of_a_score_is_less_and_keeps_the_order(one: int, other: int) -> None:
    assert 0 <= remaining(one) <= one
    assert (one <= other) <= (remaining(one) <= remaining(other))
