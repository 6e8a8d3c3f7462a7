from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.webdb.anchors import (
    MAX_ANCHORS,
    MAX_GATHERED,
    OUTSIDE,
    Anchors,
    add_up,
    heaviest,
    keep_greater,
    sum_of,
    weights_of,
)

weights = st.one_of(st.integers(1, 4), st.integers(OUTSIDE + 1, OUTSIDE + 4))
texts = st.integers(0, 30).map(str)
# More texts than an entry keeps, and many of one weight: both are where cutting off could go wrong.
tables = st.dictionaries(texts, weights, max_size=30)
kept = tables.map(heaviest)


def test_other_hosts_come_first_then_the_most_frequent_then_the_alphabet() -> None:
    anchors = heaviest({"menu": 900, "b": OUTSIDE + 2, "c": OUTSIDE + 7, "a": OUTSIDE + 2, "once": 1})
    assert anchors.texts == ("c", "a", "b", "menu", "once")
    assert anchors.weights == (OUTSIDE + 7, OUTSIDE + 2, OUTSIDE + 2, 900)


@given(tables)
def test_weights_survive_leaving_out_those_of_one(table: dict[str, int]) -> None:
    assert weights_of(heaviest(table, len(table))) == table


@given(tables)
def test_an_entry_keeps_the_heaviest(table: dict[str, int]) -> None:
    anchors = heaviest(table)
    assert len(anchors.texts) == min(len(table), MAX_ANCHORS)
    lightest = min((table[text] for text in anchors.texts), default=0)
    assert all(table[text] <= lightest for text in table.keys() - set(anchors.texts))


@given(kept)
def test_anchors_merged_with_themselves_do_not_grow(one: Anchors) -> None:
    assert keep_greater(one, one) is one
    assert keep_greater(one, Anchors()) is one
    assert keep_greater(Anchors(), one) == one


@given(kept, kept, kept)
def test_the_order_of_merging_does_not_matter(one: Anchors, two: Anchors, three: Anchors) -> None:
    assert keep_greater(one, two) == keep_greater(two, one)
    assert keep_greater(keep_greater(one, two), three) == keep_greater(one, keep_greater(two, three))


@given(st.lists(tables, max_size=5))
def test_cutting_off_early_changes_nothing(sets: list[dict[str, int]]) -> None:
    merged = Anchors()
    best: dict[str, int] = {}
    for table in sets:
        merged = keep_greater(merged, heaviest(table, MAX_GATHERED))
        best = {text: max(table.get(text, 0), best.get(text, 0)) for text in table.keys() | best.keys()}
    assert merged == heaviest(best)


@given(st.lists(st.tuples(texts, st.booleans()), max_size=60), st.integers(0, 60))
def test_pages_are_counted_wherever_they_were_gathered(pages: list[tuple[str, bool]], cut: int) -> None:
    outside = Counter(text for text, is_outside in pages if is_outside)
    own = Counter(text for text, is_outside in pages if not is_outside)
    wanted = {text: OUTSIDE + outside[text] if text in outside else own[text] for text, _ in pages}
    halves = [Anchors(), Anchors()]
    for number, (text, is_outside) in enumerate(pages):
        weight = OUTSIDE + 1 if is_outside else 1
        halves[number < cut] = add_up(halves[number < cut], heaviest({text: weight}))
    assert weights_of(add_up(*halves)) == weights_of(add_up(*reversed(halves))) == wanted


@given(weights, weights, weights)
def test_adding_weights_does_not_depend_on_their_order(one: int, two: int, three: int) -> None:
    assert sum_of(one, two) == sum_of(two, one)
    assert sum_of(sum_of(one, two), three) == sum_of(one, sum_of(two, three))


@pytest.mark.parametrize("pages", [MAX_GATHERED, 10 * MAX_GATHERED])
def test_what_adds_up_is_bounded(pages: int) -> None:
    anchors = Anchors()
    for page in range(pages):
        anchors = add_up(anchors, heaviest({f"text {page}": 1, "the usual": 1}))
    assert len(anchors.texts) == MAX_GATHERED
    assert anchors.texts[0] == "the usual"
    assert anchors.weights == (pages,)
