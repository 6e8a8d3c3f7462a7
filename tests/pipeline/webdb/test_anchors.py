from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.webdb.anchors import (
    BOILERPLATE,
    MAX_ANCHORS,
    MAX_GATHERED,
    OUTSIDE,
    Anchors,
    add_up,
    heaviest,
    keep_greater,
    pages_of,
    sum_of,
    weight_of_link,
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


@given(st.lists(st.tuples(texts, st.booleans(), st.booleans()), max_size=60), st.integers(0, 60))
def test_pages_are_counted_wherever_they_were_gathered(pages: list[tuple[str, bool, bool]], cut: int) -> None:
    given = Counter(
        (text, weight_of_link(is_own=own, is_boilerplate=boilerplate)) for text, own, boilerplate in pages
    )
    wanted: dict[str, int] = {}
    for text, weight in given:
        counted = weight if weight == BOILERPLATE else weight - 1 + given[text, weight]
        wanted[text] = max(wanted.get(text, 0), counted)
    halves = [Anchors(), Anchors()]
    for number, (text, own, boilerplate) in enumerate(pages):
        weight = weight_of_link(is_own=own, is_boilerplate=boilerplate)
        halves[number < cut] = add_up(halves[number < cut], heaviest({text: weight}))
    assert weights_of(add_up(*halves)) == weights_of(add_up(*reversed(halves))) == wanted


def test_a_text_of_content_weighs_more_than_one_of_any_number_of_menus() -> None:
    menu = weight_of_link(is_own=True, is_boilerplate=True)
    content = weight_of_link(is_own=True, is_boilerplate=False)
    elsewhere = weight_of_link(is_own=False, is_boilerplate=False)
    assert sum_of(menu, menu) == menu < content < elsewhere
    assert weight_of_link(is_own=False, is_boilerplate=True) == content
    assert [pages_of(weight) for weight in (menu, content, sum_of(content, content), elsewhere)] == [
        1,
        1,
        2,
        1,
    ]


@given(weights, weights, weights)
def test_adding_weights_does_not_depend_on_their_order(one: int, two: int, three: int) -> None:
    assert sum_of(one, two) == sum_of(two, one)
    assert sum_of(sum_of(one, two), three) == sum_of(one, sum_of(two, three))


@pytest.mark.parametrize("pages", [MAX_GATHERED, 10 * MAX_GATHERED])
def test_what_adds_up_is_bounded(pages: int) -> None:
    anchors = Anchors()
    for page in range(pages):
        anchors = add_up(anchors, heaviest({f"text {page}": 2, "the usual": 2}))
    assert len(anchors.texts) == MAX_GATHERED
    assert anchors.texts[0] == "the usual"
    assert pages_of(anchors.weights[0]) == pages
