from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.search.evaluate.top_k import best_indices
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from numpy.typing import NDArray


def keys(indices: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Return keys without an order that a stable sort would give."""
    return indices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def by_sorting(numbers: list[int], count: int) -> list[int]:
    tied = keys(np.arange(len(numbers))).tolist()
    indices = sorted(range(len(numbers)), key=lambda index: (-numbers[index], tied[index]))
    return [index for index in indices if numbers[index] > 0][:count]


@given(st.lists(st.integers(0, 5), max_size=300), st.integers(0, 40))
def test_the_best_are_those_that_sorting_finds(numbers: list[int], count: int) -> None:
    assert best_indices(np.array(numbers, np.int32), count, keys).tolist() == by_sorting(numbers, count)


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 1000, 2**31 - 1]), st.integers(1, 700))
def test_in_long_arrays_too(seed: int, highest: int, count: int) -> None:
    numbers = np.random.default_rng(seed).integers(0, highest, 20_000, dtype=np.int32)
    assert best_indices(numbers, count, keys).tolist() == by_sorting(numbers.tolist(), count)


@pytest.mark.parametrize("length", [0, 1, 64, 65, 4096, 4097, 10_000])
def test_equal_numbers_come_in_the_order_of_their_keys(length: int) -> None:
    assert best_indices(np.full(length, 7), 10, keys).tolist() == by_sorting([7] * length, 10)


def test_keys_are_asked_for_only_where_numbers_are_equal() -> None:
    asked: list[int] = []

    def keys_of(indices: NDArray[np.intp]) -> NDArray[np.uint64]:
        asked.extend(indices.tolist())
        return keys(indices)

    assert best_indices(np.array([5, 9, 9, 1, 3]), 5, keys_of)[2:].tolist() == [0, 4, 3]
    assert set(asked) == {1, 2}
