"""The solution in parts that exchange messages against a dense solve, on graphs that make trouble."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.rank.solve import anderson as mixing
from crawlctl.pipeline.rank.solve import block_jacobi as jacobi
from crawlctl.pipeline.rank.solve import halo
from crawlctl.pipeline.rank.solve.task_matrix import TaskMatrix
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
    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats, Numbers

SHARED = Path(__file__).resolve().parents[5] / "shared" / "data" / "graphs"
TOLERANCE = 1e-9
MOST_ROUNDS = 60
MOST_ROUNDS_OF_UK = 15


@pytest.fixture(params=[0.0, 0.5, 9.0], ids=lambda share: f"a halo of {share}")
def _halo(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halo, "HALO_SHARE", request.param)


@pytest.mark.usefixtures("_halo")
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("web", TROUBLE.values(), ids=TROUBLE)
def test_parts_come_to_the_ranks_of_a_dense_solve(web: Graph, count: int) -> None:
    homes, teleport = np.arange(web.nodes) * count // web.nodes, uniform_teleport(web.nodes)
    ranks, rounds = solve_in_tasks(web, homes, teleport, TOLERANCE, limit=MOST_ROUNDS)
    assert np.abs(ranks - dense_rank(web, teleport)).sum() <= TOLERANCE
    assert abs(ranks.sum() - 1) <= 1e-12
    assert rounds < MOST_ROUNDS


@pytest.mark.usefixtures("_halo")
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
    st.sampled_from([0.0, 0.1, 0.5, 9.0]),
    st.sampled_from([0.0, 0.5, 0.85, 0.99]),
)
def test_any_graph_in_any_parts_has_the_ranks_of_a_dense_solve(
    web: tuple[int, list[tuple[int, int]], list[int]], share: float, damping: float
) -> None:
    nodes, arcs, homes = web
    made, teleport = graph(nodes, arcs), uniform_teleport(nodes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(halo, "HALO_SHARE", share)
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


@pytest.mark.parametrize("wild", [1e-3, 0.9, 1.5, 30.0])
def test_a_halo_that_leads_astray_only_costs_rounds(wild: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the halo never helps, plain rounds still come to the end in the time they are known to need."""
    sweep = TaskMatrix.sweep

    def misled(told: TaskMatrix, vector: Floats, fixed: Floats, times: int, *, plain: bool = False) -> Floats:
        found = sweep(told, vector, fixed, times, plain=plain)
        return found if plain or times == 1 else found * wild

    monkeypatch.setattr(TaskMatrix, "sweep", misled)
    web = TROUBLE["every link crosses parts"]
    homes = np.arange(web.nodes) * 4 // web.nodes
    ranks, _ = solve_in_tasks(web, homes, uniform_teleport(web.nodes), TOLERANCE, limit=250)
    assert np.abs(ranks - dense_rank(web, uniform_teleport(web.nodes))).sum() <= TOLERANCE


def twins(nodes: int) -> Graph:
    """Return a web whose pages link to their translation in the other half, to the next page and a front."""
    half = nodes // 2
    arcs = [(page, (page + half) % nodes) for page in range(nodes)]
    arcs += [(page, page + 1) for page in range(nodes - 1) if (page + 1) % 40]
    return graph(nodes, arcs + [(page, page // 200 * 200) for page in range(0, nodes, 3)])


def test_links_within_the_halo_save_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    web, teleport = twins(2000), uniform_teleport(2000)
    homes = np.arange(2000) * 2 // 2000
    monkeypatch.setattr(halo, "HALO_SHARE", 9.0)
    _, rounds = solve_in_tasks(web, homes, teleport, TOLERANCE)
    monkeypatch.setattr(TaskMatrix, "knowing", lambda matrix, _: matrix)
    _, without = solve_in_tasks(web, homes, teleport, TOLERANCE)
    assert rounds < without


def test_circles_through_two_parts_take_no_round_per_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    web, teleport = twins(2000), uniform_teleport(2000)
    homes = np.arange(2000) * 2 // 2000
    monkeypatch.setattr(halo, "HALO_SHARE", 9.0)
    ranks, rounds = solve_in_tasks(web, homes, teleport, TOLERANCE)
    monkeypatch.setattr(halo, "HALO_SHARE", 0.0)
    _, without = solve_in_tasks(web, homes, teleport, TOLERANCE)
    assert np.abs(ranks - dense_rank(web, teleport)).sum() <= TOLERANCE
    assert rounds * 2 <= without


@pytest.mark.parametrize("web", TROUBLE.values(), ids=TROUBLE)
def test_parts_begin_with_the_last_ranks_and_end_with_those_of_a_dense_solve(web: Graph) -> None:
    homes, teleport = np.arange(web.nodes) % 3, uniform_teleport(web.nodes)
    ranks = dense_rank(web, teleport)
    solution = ranks / (1 - 0.85 * ranks[web.degrees > 0].sum())
    again, rounds = solve_in_tasks(web, homes, teleport, TOLERANCE, last=solution)
    assert rounds == 2, "one sends the ranks, one finds the residual"
    assert np.abs(again - ranks).sum() <= TOLERANCE
    wrong = np.random.default_rng(3).random(web.nodes) * np.arange(web.nodes)
    found, _ = solve_in_tasks(web, homes, teleport, TOLERANCE, last=wrong)
    assert np.abs(found - ranks).sum() <= TOLERANCE


def test_the_last_ranks_save_rounds_where_little_has_changed() -> None:
    before, teleport = twins(2000), uniform_teleport(2000)
    homes = np.arange(2000) * 4 // 2000
    last = dense_rank(before, teleport)
    last /= 1 - 0.85 * last[before.degrees > 0].sum()
    after = before._replace(targets=np.append(before.targets[:-2], [11, 1300]))
    cold, rounds = solve_in_tasks(after, homes, teleport, 1e-6)
    warm, fewer = solve_in_tasks(after, homes, teleport, 1e-6, last=last)
    assert np.abs(warm - cold).sum() <= 2e-6
    assert fewer < rounds


def test_the_plain_iteration_needs_more_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    web, teleport = TROUBLE["mostly frontier"], uniform_teleport(100)
    homes = np.arange(100) % 4
    _, mixed = solve_in_tasks(web, homes, teleport, TOLERANCE)
    monkeypatch.setattr(jacobi.RoundSummary, "course", lambda *_: jacobi.Course.PLAIN)
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
