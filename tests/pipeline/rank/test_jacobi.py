"""The solution in parts that exchange messages against a dense solve, on graphs that make trouble."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.rank import jacobi, mixing
from crawlctl.tests.pipeline.rank.graphs import (
    TROUBLE,
    Graph,
    dense_rank,
    graph,
    solve_in_parts,
    uniform_teleport,
)

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "graphs"
TOLERANCE = 1e-9
MOST_ROUNDS = 60


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("web", TROUBLE.values(), ids=TROUBLE)
def test_parts_come_to_the_ranks_of_a_dense_solve(web: Graph, count: int) -> None:
    homes, teleport = np.arange(web.nodes) * count // web.nodes, uniform_teleport(web.nodes)
    ranks, rounds = solve_in_parts(web, homes, teleport, TOLERANCE, limit=MOST_ROUNDS)
    assert np.abs(ranks - dense_rank(web, teleport)).sum() <= TOLERANCE
    assert abs(ranks.sum() - 1) <= 1e-12
    assert rounds < MOST_ROUNDS


@pytest.mark.parametrize("web", TROUBLE.values(), ids=TROUBLE)
def test_parts_may_lie_scattered_and_the_teleport_lead_anywhere(web: Graph) -> None:
    homes = np.arange(web.nodes) % 3
    teleport = np.zeros(web.nodes)
    teleport[-1] = 1.0
    ranks, _ = solve_in_parts(web, homes, teleport, TOLERANCE)
    assert np.abs(ranks - dense_rank(web, teleport)).sum() <= TOLERANCE


@given(
    st.integers(1, 24).flatmap(
        lambda nodes: st.tuples(
            st.just(nodes),
            st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=100),
            st.lists(st.integers(0, 4), min_size=nodes, max_size=nodes),
        )
    )
)
def test_any_graph_in_any_parts_has_the_ranks_of_a_dense_solve(
    web: tuple[int, list[tuple[int, int]], list[int]],
) -> None:
    nodes, arcs, homes = web
    made, teleport = graph(nodes, arcs), uniform_teleport(nodes)
    ranks, _ = solve_in_parts(made, np.array(homes), teleport, TOLERANCE)
    assert np.abs(ranks - dense_rank(made, teleport)).sum() <= TOLERANCE


def test_mixing_that_leads_astray_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = iter(range(10_000))
    mix = mixing.coefficients

    def wild(products: mixing.Products) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        mixed = mix(products)
        if len(mixed) > 1 and next(calls) // 4 == 2:  # of all four parts alike, as each decides for itself
            mixed[-1] += 1000
            mixed[-2] -= 1000
        return mixed

    monkeypatch.setattr(jacobi, "coefficients", wild)
    web = TROUBLE["every link crosses parts"]
    homes = np.arange(web.nodes) * 4 // web.nodes
    web = web._replace(sources=np.append(web.sources, [3, 3, 3]), targets=np.append(web.targets, [5, 17, 30]))
    ranks, _ = solve_in_parts(web, homes, uniform_teleport(web.nodes), TOLERANCE)
    assert np.abs(ranks - dense_rank(web, uniform_teleport(web.nodes))).sum() <= TOLERANCE


def test_the_plain_iteration_needs_more_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    web, teleport = TROUBLE["mostly frontier"], uniform_teleport(100)
    homes = np.arange(100) % 4
    _, mixed = solve_in_parts(web, homes, teleport, TOLERANCE)
    monkeypatch.setattr("crawlctl.tests.pipeline.rank.graphs.is_worse", lambda *_: True)
    _, plain = solve_in_parts(web, homes, teleport, TOLERANCE)
    assert mixed < plain


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/data/graphs")
@pytest.mark.parametrize(("count", "most"), [(8, 17), pytest.param(32, 23, marks=pytest.mark.integration)])
def test_a_real_web_graph_takes_few_rounds(count: int, most: int) -> None:
    packed = np.load(SHARED / "uk-2007-05.npz")
    nodes = len(packed["deg"])
    web = Graph(nodes, np.repeat(np.arange(nodes), packed["deg"]), np.cumsum(packed["gap"]))
    homes = np.arange(nodes) * count // nodes
    ranks, rounds = solve_in_parts(web, homes, uniform_teleport(nodes), 1e-6)
    assert np.abs(ranks - np.load(SHARED / "uk-2007-05.pagerank.npy")).sum() <= 1e-6
    assert rounds <= most
