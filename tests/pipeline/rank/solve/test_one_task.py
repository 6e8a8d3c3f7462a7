"""The solution in one task against a dense solve, on graphs that make trouble."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.rank.graph.sparse_blocks import make_block
from crawlctl.pipeline.rank.solve import anderson as mixing
from crawlctl.pipeline.rank.solve import one_task as solve
from crawlctl.pipeline.rank.solve.one_task import Matrix
from crawlctl.tests.pipeline.rank.graphs import DAMPING, TROUBLE, Graph, dense_rank, graph, uniform_teleport

if TYPE_CHECKING:
    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats

TOLERANCE = 1e-9


def matrix_of(web: Graph) -> Matrix:
    return Matrix([make_block(web.sources, web.targets)], web.degrees)


def rank(web: Graph, teleport: Floats, tolerance: float = TOLERANCE, damping: float = DAMPING) -> Floats:
    solution = matrix_of(web).solve(teleport, damping=damping, tolerance=tolerance)
    assert solution.error <= tolerance
    ranks: Floats = solution.vector / solution.vector.sum()
    return ranks


def test_where_nothing_can_be_teleported_to_all_ranks_are_zero() -> None:
    """As in a crawl whose pages are all gone."""
    web = next(iter(TROUBLE.values()))
    solution = matrix_of(web).solve(np.zeros(web.nodes), damping=DAMPING, tolerance=TOLERANCE)
    assert solution.error == 0 and not solution.vector.any()


@pytest.mark.parametrize("web", TROUBLE.values(), ids=TROUBLE)
def test_ranks_are_those_of_a_dense_solve(web: Graph) -> None:
    teleport = uniform_teleport(web.nodes)
    ranks = rank(web, teleport)
    assert np.abs(ranks - dense_rank(web, teleport)).sum() <= TOLERANCE
    assert abs(ranks.sum() - 1) <= 1e-12


@pytest.mark.parametrize("web", TROUBLE.values(), ids=TROUBLE)
def test_a_teleport_may_lead_to_a_few_nodes_only(web: Graph) -> None:
    teleport = np.zeros(web.nodes)
    teleport[[0, web.nodes // 2]] = 1.0
    teleport /= teleport.sum()
    assert np.abs(rank(web, teleport) - dense_rank(web, teleport)).sum() <= TOLERANCE


@settings(deadline=None)
@given(
    st.integers(1, 30).flatmap(
        lambda nodes: st.tuples(
            st.just(nodes),
            st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=120),
        )
    ),
    st.sampled_from([0.0, 0.5, 0.85, 0.99]),
)
def test_any_graph_has_the_ranks_of_a_dense_solve(
    web: tuple[int, list[tuple[int, int]]], damping: float
) -> None:
    made, teleport = graph(*web), uniform_teleport(web[0])
    found = rank(made, teleport, damping=damping)
    assert np.abs(found - dense_rank(made, teleport, damping)).sum() <= TOLERANCE


def test_blocks_cut_into_slices_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    web = TROUBLE["mostly frontier"]
    whole = rank(web, uniform_teleport(web.nodes))
    monkeypatch.setattr("crawlctl.pipeline.rank.graph.sparse_blocks.SLICE_ARCS", 7)
    assert np.allclose(rank(web, uniform_teleport(web.nodes)), whole, rtol=0, atol=1e-15)


def test_a_weight_counts_like_as_many_links() -> None:
    twice = graph(3, [(0, 1), (0, 1), (0, 2), (1, 0), (2, 0)])
    once = graph(3, [(0, 1), (0, 2), (1, 0), (2, 0)])
    block = make_block(once.sources, once.targets)
    weights = np.where((block.sources == 0) & (np.repeat(block.rows, [2, 1, 1]) == 1), 2.0, 1.0)
    weighted = Matrix([block._replace(weights=weights)], twice.degrees)
    solution = weighted.solve(uniform_teleport(3), damping=DAMPING, tolerance=TOLERANCE)
    expected = dense_rank(twice, uniform_teleport(3))
    assert np.abs(solution.vector / solution.vector.sum() - expected).sum() <= TOLERANCE


def test_a_mix_that_leads_astray_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    astray = iter([False, True, True, False, True] + 10_000 * [False])
    mix = mixing.combined
    monkeypatch.setattr(solve, "combined", lambda *args: mix(*args) * (1000 if next(astray) else 1))
    web = TROUBLE["a link farm"]
    found = rank(web, uniform_teleport(web.nodes))
    assert np.abs(found - dense_rank(web, uniform_teleport(web.nodes))).sum() <= TOLERANCE


def test_what_cannot_be_reached_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "LIMIT", 10)
    web = TROUBLE["a chain"]
    with pytest.raises(ConfigError, match=r"rank\.tolerance"):
        rank(web, uniform_teleport(web.nodes))


@settings(deadline=None)
@given(
    nodes=st.integers(2, 60),
    arcs=st.integers(0, 300),
    changed=st.integers(0, 20),
    seed=st.integers(0, 2**32 - 1),
    scale=st.floats(1e-9, 1e9),
)
def test_a_warm_start_ends_within_the_same_bound(
    nodes: int, arcs: int, changed: int, seed: int, scale: float
) -> None:
    """Whatever the start: the ranks of a changed graph, with new nodes, on any scale."""
    chance = np.random.default_rng(seed)
    links = {(int(a), int(b)) for a, b in chance.integers(0, nodes, (arcs, 2)) if a != b}
    before = rank(graph(nodes, sorted(links)), uniform_teleport(nodes))
    more = {(int(a), int(b)) for a, b in chance.integers(0, nodes + 3, (changed, 2)) if a != b}
    web, teleport = graph(nodes + 3, sorted(links | more)), uniform_teleport(nodes + 3)
    start = scale * np.concatenate([before, np.zeros(3)])
    warm = matrix_of(web).solve(teleport, damping=DAMPING, tolerance=TOLERANCE, start=start)
    assert warm.error <= TOLERANCE
    assert np.abs(warm.vector / warm.vector.sum() - dense_rank(web, teleport)).sum() <= TOLERANCE


def test_a_graph_that_has_changed_little_needs_fewer_sweeps_from_its_last_ranks() -> None:
    chance = np.random.default_rng(5)
    links = {(int(a), int(b)) for a, b in chance.integers(0, 2000, (16_000, 2)) if a != b}
    before, after = graph(2000, sorted(links)), graph(2000, sorted(links | {(3, 9), (8, 4)}))
    teleport = uniform_teleport(2000)
    last = rank(before, teleport)
    cold = matrix_of(after).solve(teleport, damping=DAMPING, tolerance=1e-6)
    warm = matrix_of(after).solve(teleport, damping=DAMPING, tolerance=1e-6, start=last)
    assert warm.sweeps < 0.7 * cold.sweeps
    again = matrix_of(before).solve(teleport, damping=DAMPING, tolerance=1e-6, start=last)
    assert again.sweeps == 1
