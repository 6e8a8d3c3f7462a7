from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.crawl.listings.first_items import FirstItems


@given(st.lists(st.tuples(st.integers(0, 9), st.integers()), max_size=600), st.integers(1, 5))
def test_the_first_of_many_are_those_of_a_sort(items: list[tuple[int, int]], count: int) -> None:
    first = FirstItems[tuple[int, int]](count, lambda item: item[0])
    for item in items:
        first.add(item)
    assert first.items() == sorted(items, key=lambda item: item[0])[:count]
    assert first.met == len(items)
