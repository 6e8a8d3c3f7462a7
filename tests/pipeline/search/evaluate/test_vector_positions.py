from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.search.evaluate.vector_positions import PositionSet

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
