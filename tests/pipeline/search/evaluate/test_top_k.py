from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.search.evaluate.top_k import best_indices
from crawlctl.tests.effort import examples


def by_sorting(numbers: list[int], count: int) -> list[int]:
    indices = sorted(range(len(numbers)), key=lambda index: (-numbers[index], index))
    return [index for index in indices if numbers[index] > 0][:count]


@given(st.lists(st.integers(0, 5), max_size=300), st.integers(0, 40))
def test_the_best_are_those_that_sorting_finds(numbers: list[int], count: int) -> None:
    assert best_indices(np.array(numbers, np.int32), count).tolist() == by_sorting(numbers, count)


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 1000, 2**31 - 1]), st.integers(1, 700))
def test_in_long_arrays_too(seed: int, highest: int, count: int) -> None:
    numbers = np.random.default_rng(seed).integers(0, highest, 20_000, dtype=np.int32)
    assert best_indices(numbers, count).tolist() == by_sorting(numbers.tolist(), count)


@pytest.mark.parametrize("length", [0, 1, 64, 65, 4096, 4097, 10_000])
def test_equal_numbers_come_in_their_order(length: int) -> None:
    assert best_indices(np.full(length, 7), 10).tolist() == list(range(min(10, length)))
