from __future__ import annotations

import numpy as np
import pytest

from crawlctl.pipeline.rank.solve.stop_rule import StopRule
from crawlctl.tests.pipeline.rank.graphs import TROUBLE, Graph, dense_rank, uniform_teleport


@pytest.mark.parametrize("web", TROUBLE.values(), ids=TROUBLE)
@pytest.mark.parametrize("steps", [0, 1, 7])
def test_the_error_of_any_vector_is_below_its_bound(web: Graph, steps: int) -> None:
    damping, teleport = 0.85, uniform_teleport(web.nodes)
    matrix = np.zeros((web.nodes, web.nodes))
    np.add.at(matrix, (web.targets, web.sources), 1.0)
    matrix /= np.maximum(matrix.sum(axis=0), 1)
    vector = np.random.default_rng(steps).random(web.nodes)
    for _ in range(steps):
        vector = teleport + damping * matrix @ vector
    residual = teleport + damping * matrix @ vector - vector
    error = np.abs(vector / vector.sum() - dense_rank(web, teleport, damping)).sum()
    exact = np.abs(residual - teleport * residual.sum()).sum()
    total = float(vector.sum())
    bound = StopRule(damping, 0.0).error(float(exact), total)
    assert error <= bound * (1 + 1e-9) + 1e-12
    assert exact <= np.abs(residual).sum() + abs(residual.sum()) + 1e-12
    assert StopRule(damping, bound * 1.001 + 1e-12).is_met(float(exact), total)
    if exact > 1e-9:
        assert not StopRule(damping, bound * 0.999).is_met(float(exact), total)


def test_a_vector_of_sum_0_has_a_bound_too() -> None:
    assert StopRule(0.85, 1e-6).error(0.0, 0.0) == 0
    assert StopRule(0.85, 1e-6).is_met(0.0, 0.0)
