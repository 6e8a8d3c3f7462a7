"""Pages that name another in their place, by numbers that stand for the hashes of their keys."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.webdb.merge.canonicals import Names, are_among

Pages = dict[int, tuple[int, bool]]  # what a page names, and whether it has a document


def giving_way(pages: Pages, live: set[int], lengths: dict[int, int] | None = None) -> set[int]:
    names = Names()
    for page, (named, has_document) in sorted(pages.items()):
        names.add(page, named, (lengths or {}).get(page, 1), has_document=has_document)
    documents = live | {page for page, (_, has_document) in pages.items() if has_document}
    giving, staying = names.divided(np.array(sorted(documents), np.int64))
    assert sorted([*giving.tolist(), *staying.tolist()]) == sorted(pages)
    return set(giving.tolist())


def test_a_page_gives_way_to_a_live_one_and_not_to_one_nobody_knows() -> None:
    assert giving_way({1: (5, True), 2: (6, True)}, live={5}) == {1}


def test_a_chain_of_names_ends_at_its_last_document() -> None:
    chain: Pages = {1: (2, True), 2: (3, True), 3: (4, True)}
    assert giving_way(chain, live={4}) == {1, 2, 3}
    assert giving_way(chain, live=set()) == {1, 2}
    assert giving_way({**chain, 3: (4, False)}, live=set()) == {1}


def test_in_a_circle_the_shortest_url_with_a_document_leads() -> None:
    circle: Pages = {1: (2, True), 2: (3, True), 3: (1, True)}
    assert giving_way(circle, set()) == {2, 3}, "of equally long ones the first"
    assert giving_way(circle, set(), lengths={3: 0}) == {1, 2}
    assert giving_way({**circle, 3: (1, False)}, set(), lengths={3: 0}) == {2, 3}
    assert giving_way({page: (named, False) for page, (named, _) in circle.items()}, set()) == set()


def test_pages_before_a_circle_follow_the_one_that_leads_it() -> None:
    assert giving_way({1: (2, True), 2: (3, True), 3: (2, True)}, set()) == {1, 3}
    assert giving_way({1: (2, True), 2: (3, False), 3: (2, False)}, set()) == set()


def test_a_chain_of_a_hundred_thousand_names_is_followed_in_no_time() -> None:
    count = 100_000
    assert len(giving_way({page: (page + 1, True) for page in range(count)}, set())) == count - 1
    assert len(giving_way({page: ((page + 1) % count, True) for page in range(count)}, set())) == count - 1


def test_no_pages_are_none() -> None:
    assert giving_way({}, live={1}) == set()
    assert are_among(np.array([1, 5]), np.array([5, 7])).tolist() == [False, True]
    assert are_among(np.array([1, 5]), np.zeros(0, np.int64)).tolist() == [False, False]


def spelt_out(page: int, pages: Pages, live: set[int], lengths: dict[int, int]) -> bool:
    """Whether a page gives way, as the module's docstring says it."""
    way, at = [page], pages[page][0]
    while at in pages and at not in way:
        way.append(at)
        at = pages[at][0]
    if at == page:
        able = [one for one in way if pages[one][1]]
        return bool(able) and page != min(able, key=lambda one: (lengths[one], one))
    return at in live or any(pages[one][1] for one in way[1:])


@given(
    st.dictionaries(st.integers(0, 9), st.tuples(st.integers(0, 12), st.booleans())),
    st.sets(st.integers(10, 12)),
    st.lists(st.integers(1, 3), min_size=10, max_size=10),
)
def test_who_gives_way_is_what_the_rule_says(pages: Pages, live: set[int], each: list[int]) -> None:
    others = {page: named for page, named in pages.items() if named[0] != page}  # no page names itself
    lengths = dict(enumerate(each))
    assert giving_way(others, live, lengths) == {
        page for page in others if spelt_out(page, others, live, lengths)
    }
