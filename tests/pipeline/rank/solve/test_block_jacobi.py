"""The solution in parts that exchange messages against a dense solve, on graphs that make trouble."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.rank.solve import aggregation as regions
from crawlctl.pipeline.rank.solve import anderson as mixing
from crawlctl.pipeline.rank.solve import block_jacobi as jacobi
from crawlctl.pipeline.rank.solve.aggregation import Incoming
from crawlctl.pipeline.urls.hosts import partition_of
from crawlctl.tests.pipeline.rank.graphs import (
    TROUBLE,
    Graph,
    dense_rank,
    graph,
    solve_in_tasks,
    uniform_teleport,
)

if TYPE_CHECKING:
    from crawlctl.pipeline.rank.graph.sparse_blocks import Numbers

SHARED = Path(__file__).resolve().parents[5] / "shared" / "data" / "graphs"
TOLERANCE = 1e-9
MOST_ROUNDS = 60
MOST_ROUNDS_OF_UK = 15


@pytest.fixture(params=[64, 3, 1], ids=lambda nodes: f"regions of {nodes}")
def _regions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "LEAST_NODES", request.param)


@pytest.mark.usefixtures("_regions")
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("web", TROUBLE.values(), ids=TROUBLE)
def test_parts_come_to_the_ranks_of_a_dense_solve(web: Graph, count: int) -> None:
    homes, teleport = np.arange(web.nodes) * count // web.nodes, uniform_teleport(web.nodes)
    ranks, rounds = solve_in_tasks(web, homes, teleport, TOLERANCE, limit=MOST_ROUNDS)
    assert np.abs(ranks - dense_rank(web, teleport)).sum() <= TOLERANCE
    assert abs(ranks.sum() - 1) <= 1e-12
    assert rounds < MOST_ROUNDS


@pytest.mark.usefixtures("_regions")
@pytest.mark.parametrize("web", TROUBLE.values(), ids=TROUBLE)
def test_parts_may_lie_scattered_and_the_teleport_lead_anywhere(web: Graph) -> None:
    homes = np.arange(web.nodes) % 3
    teleport = np.zeros(web.nodes)
    teleport[-1] = 1.0
    ranks, _ = solve_in_tasks(web, homes, teleport, TOLERANCE)
    assert np.abs(ranks - dense_rank(web, teleport)).sum() <= TOLERANCE


@settings(deadline=None)
@given(
    st.integers(1, 24).flatmap(
        lambda nodes: st.tuples(
            st.just(nodes),
            st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=100),
            st.lists(st.integers(0, 4), min_size=nodes, max_size=nodes),
        )
    ),
    st.sampled_from([64, 4, 2, 1]),
    st.sampled_from([0.0, 0.5, 0.85, 0.99]),
)
def test_any_graph_in_any_parts_has_the_ranks_of_a_dense_solve(
    web: tuple[int, list[tuple[int, int]], list[int]], least: int, damping: float
) -> None:
    nodes, arcs, homes = web
    made, teleport = graph(nodes, arcs), uniform_teleport(nodes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions, "LEAST_NODES", least)
        ranks, _ = solve_in_tasks(made, np.array(homes), teleport, TOLERANCE, damping, limit=5000)
    assert np.abs(ranks - dense_rank(made, teleport, damping)).sum() <= TOLERANCE


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
    ranks, _ = solve_in_tasks(web, homes, uniform_teleport(web.nodes), TOLERANCE)
    assert np.abs(ranks - dense_rank(web, uniform_teleport(web.nodes))).sum() <= TOLERANCE


@pytest.mark.parametrize("wild", [1e-3, 0.9, 1.2, 30.0])
def test_regions_scaled_at_random_only_cost_rounds(wild: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where scaling never helps, plain rounds still come to the end in the time they are known to need."""

    def scales(told: Incoming, masses: np.ndarray[tuple[int], np.dtype[np.float64]], _: object) -> object:
        return np.where(np.arange(len(masses)) % 2 == 0, wild, 1.0)

    monkeypatch.setattr(Incoming, "scales", scales)
    web = TROUBLE["every link crosses parts"]
    homes = np.arange(web.nodes) * 4 // web.nodes
    ranks, _ = solve_in_tasks(web, homes, uniform_teleport(web.nodes), TOLERANCE, limit=250)
    assert np.abs(ranks - dense_rank(web, uniform_teleport(web.nodes))).sum() <= TOLERANCE


def test_the_plain_iteration_needs_more_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    web, teleport = TROUBLE["mostly frontier"], uniform_teleport(100)
    homes = np.arange(100) % 4
    _, mixed = solve_in_tasks(web, homes, teleport, TOLERANCE)
    monkeypatch.setattr(jacobi.RoundSummary, "is_astray", lambda *_: True)
    _, plain = solve_in_tasks(web, homes, teleport, TOLERANCE)
    assert mixed < plain


def hosts_dealt(nodes: int, parts: int, pages: int, seed: int) -> Numbers:
    """Return the part of each node where runs of so many stand for hosts, each of which is dealt by hash."""
    homes = [partition_of(f"{seed}.host{host}.example", parts) for host in range(nodes // pages + 1)]
    return np.array(homes)[np.arange(nodes) // pages]


@pytest.mark.integration
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/data/graphs")
@pytest.mark.parametrize(
    ("parts", "pages", "seed"),
    [(2, 3000, 1), (8, None, 0), (8, 500, 2), (32, None, 0), (32, 3000, 1), (32, 500, 3)],
)
def test_a_real_web_graph_takes_few_rounds_however_it_is_cut(
    parts: int, pages: int | None, seed: int
) -> None:
    packed = np.load(SHARED / "uk-2007-05.npz")
    nodes = len(packed["deg"])
    web = Graph(nodes, np.repeat(np.arange(nodes), packed["deg"]), np.cumsum(packed["gap"]))
    homes = np.arange(nodes) * parts // nodes if pages is None else hosts_dealt(nodes, parts, pages, seed)
    ranks, rounds = solve_in_tasks(web, homes, uniform_teleport(nodes), 1e-6)
    assert np.abs(ranks - np.load(SHARED / "uk-2007-05.pagerank.npy")).sum() <= 1e-6
    assert rounds <= MOST_ROUNDS_OF_UK
