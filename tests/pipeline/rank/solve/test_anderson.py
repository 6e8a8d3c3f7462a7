from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.rank.solve.anderson import Products, coefficients, combined, products_of


@settings(deadline=None)
@given(st.integers(1, 6), st.integers(0, 1000))
def test_the_coefficients_of_a_mix_are_those_of_least_squares(count: int, seed: int) -> None:
    steps = list(np.random.default_rng(seed).normal(size=(count + 1, 40)))
    differences = np.diff(steps, axis=0).T
    shares = np.linalg.lstsq(differences, steps[-1])[0]
    mix = coefficients(products_of(steps))
    assert mix.sum() == pytest.approx(1)
    assert np.allclose(combined(mix, steps), steps[-1] - differences @ shares, atol=1e-8)


def test_steps_that_do_not_differ_are_not_mixed() -> None:
    same = np.ones(3)
    assert coefficients(products_of([same, same])).tolist() == [0.0, 1.0]
    assert coefficients(Products(np.full((1, 1), np.nan), np.zeros(1))).tolist() == [0.0, 1.0]
