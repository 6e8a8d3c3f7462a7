from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.index.fields import POSITION_BITS
from crawlctl.pipeline.search.evaluate.vector_positions import BodyNumbers, PositionSet
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.memory_store import MemoryStore
from crawlctl.tests.pipeline.search.small_index import write_index

rising = st.sets(st.integers(0, 400), max_size=60).map(sorted)


@given(rising, rising, st.integers(-3, 3))
def test_merged_searched_and_looked_up_keys_are_the_same(
    held: list[int], asked: list[int], shift: int
) -> None:
    keys = np.array(asked, np.int64) + shift
    expected = [key in held for key in keys.tolist()]
    documents = np.zeros(len(held), np.int32)
    assert PositionSet(np.array(held, np.int64), documents).contains(keys).tolist() == expected
    assert PositionSet(np.array(held, np.int64), documents, 401).contains(keys).tolist() == expected
    one_by_one = [
        bool(PositionSet(np.array(held, np.int64), documents).contains(keys[[place]])[0])
        for place in range(len(keys))
    ]
    assert one_by_one == expected


@given(st.lists(st.integers(0, 9), max_size=40).map(sorted), st.sets(st.integers(0, 9)).map(sorted))
def test_the_positions_of_a_document_are_found_in_short_and_in_long_lists(
    owners: list[int], wanted: list[int]
) -> None:
    expected = [[at for at, owner in enumerate(owners) if owner == one] for one in wanted]
    documents, keys = np.array(owners, np.int32), np.arange(len(owners))
    for all_documents in (0, 10):
        held = PositionSet(keys, documents, all_documents=all_documents)
        bounds = zip(*held.bounds_of(np.array(wanted, np.int32)), strict=True)
        assert [list(range(start, end)) for start, end in bounds] == expected
        assert held.documents.tolist() == owners


def test_a_position_behind_the_end_of_a_body_is_damage() -> None:
    store = MemoryStore()
    pages = [Page("http://h.example/1", text="red tree"), Page("http://h.example/2", text="leaf")]
    index = open_index(store, write_index(store, [pages]), cached=False)
    numbers = BodyNumbers(index.reader)
    last_words = np.array([1, 1 << POSITION_BITS])
    assert numbers.split(last_words).bodies.keys.tolist() == [1, 3]
    for key in (2, (1 << POSITION_BITS) + 1):
        with pytest.raises(ValueError, match="behind the end of a document"):
            numbers.split(np.array([key]))
    index.close()
