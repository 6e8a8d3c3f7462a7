from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.search.evaluate.vector_positions import Spots

rising = st.sets(st.integers(0, 400), max_size=60).map(sorted)


@given(rising, rising, st.integers(-3, 3))
def test_merged_searched_and_looked_up_keys_are_the_same(
    held: list[int], asked: list[int], shift: int
) -> None:
    keys = np.array(asked, np.int64) + shift
    expected = [key in held for key in keys.tolist()]
    documents = np.zeros(len(held), np.int32)
    assert Spots(np.array(held, np.int64), documents).have(keys).tolist() == expected
    assert Spots(np.array(held, np.int64), documents, 401).have(keys).tolist() == expected
    one_by_one = [
        bool(Spots(np.array(held, np.int64), documents).have(keys[[place]])[0]) for place in range(len(keys))
    ]
    assert one_by_one == expected
