"""Graph and iteration as jobs, on each runner of this machine, against a dense solve and a known graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from crawlctl.pipeline.rank.graph.array_file import ArrayFile
from crawlctl.pipeline.rank.order import Teleport
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import partition_of, stable_hash
from crawlctl.tests.jobs.ranking import iterate, make_graph, ranks_by_url
from crawlctl.tests.pipeline.rank.graphs import TROUBLE, Graph, dense_rank, uniform_teleport
from crawlctl.tests.pipeline.rank.stored import store_blocks, store_graph

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import RunnerName

pytestmark = pytest.mark.slow

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "graphs"
TOLERANCE = 1e-6


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def rank_as_jobs(
    store: LocalStore,
    web: Graph,
    folder: Path,
    *,
    partitions: int,
    tasks: int,
    runner: RunnerName,
    rounds: int = 6,
) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], int]:
    hosts = [node % 13 for node in range(web.nodes)]
    stored = store_graph(store, web, partitions, hosts)
    graph = make_graph(store, stored.snapshot, folder, runner)
    bounds = [(partitions * n // tasks, partitions * (n + 1) // tasks) for n in range(tasks)]
    solution, jobs = iterate(store, graph, bounds, folder, runner, tolerance=1e-9, rounds=rounds)
    ranks = ranks_by_url(store, stored.snapshot, graph, solution)
    return np.array([ranks[url] for url in stored.urls]), jobs


RUNNERS = ["inline", "forked", "local"]
# Seconds each, and minutes on the local runner, which starts a process for every task of every round.
# The local runner takes seconds per round and task.
LONG: list[tuple[int, int, RunnerName]] = [
    (1, 1, "inline"),
    (2, 2, "local"),
    (8, 1, "local"),
    (8, 8, "inline"),
    (32, 4, "forked"),
    (32, 32, "forked"),
]


@pytest.mark.parametrize("tasks", [pytest.param(1, marks=pytest.mark.integration), 2])
@pytest.mark.parametrize("runner", RUNNERS)
def test_every_runner_comes_to_the_ranks_of_a_dense_solve(
    store: LocalStore, tmp_path: Path, runner: RunnerName, tasks: int
) -> None:
    # A graph that takes three rounds: the local runner takes seconds for each.
    web = TROUBLE["all but one dangling"]
    ranks, _ = rank_as_jobs(store, web, tmp_path, partitions=2, tasks=tasks, runner=runner, rounds=3)
    assert np.abs(ranks - dense_rank(web, uniform_teleport(web.nodes))).sum() <= 1e-9
    assert abs(ranks.sum() - 1) <= 1e-12


@pytest.mark.parametrize("tasks", [1, 3])
def test_partitions_may_share_a_task(store: LocalStore, tmp_path: Path, tasks: int) -> None:
    web = _as_counted(TROUBLE["mostly frontier"])
    ranks, _ = rank_as_jobs(store, web, tmp_path, partitions=5, tasks=tasks, runner="inline")
    assert np.abs(ranks - dense_rank(web, uniform_teleport(web.nodes))).sum() <= 1e-9


@pytest.mark.parametrize(
    "name",
    ["no links at all", "one node that links to itself", "self loops", "isolated parts", "a link farm"],
)
def test_graphs_that_make_trouble_pass_through_the_jobs(store: LocalStore, tmp_path: Path, name: str) -> None:
    web = _as_counted(TROUBLE[name])
    ranks, _ = rank_as_jobs(store, web, tmp_path, partitions=3, tasks=3, runner="inline", rounds=12)
    assert np.abs(ranks - dense_rank(web, uniform_teleport(web.nodes))).sum() <= 1e-9


def test_rounds_go_on_where_a_job_before_has_ended(store: LocalStore, tmp_path: Path) -> None:
    web = _as_counted(TROUBLE["a sink class"])
    ranks, jobs = rank_as_jobs(store, web, tmp_path, partitions=2, tasks=2, runner="inline", rounds=2)
    other = LocalStore(tmp_path / "other")
    at_once, one = rank_as_jobs(other, web, tmp_path, partitions=2, tasks=2, runner="inline", rounds=90)
    assert jobs > 1 == one
    assert np.array_equal(ranks, at_once), "and comes to the last bit to the same"


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/data/graphs")
@pytest.mark.integration
@pytest.mark.parametrize(("partitions", "tasks", "runner"), LONG)
@pytest.mark.timeout(1800)
def test_a_real_web_graph_has_its_known_ranks(
    store: LocalStore, tmp_path: Path, partitions: int, tasks: int, runner: RunnerName
) -> None:
    packed = np.load(SHARED / "uk-2007-05.npz")
    degrees = packed["deg"].astype(np.int64)
    web = Graph(len(degrees), np.repeat(np.arange(len(degrees)), degrees), np.cumsum(packed["gap"]))
    homes = np.array([partition_of(f"host{node // 3000}.example", partitions) for node in range(web.nodes)])
    graph = store_blocks(store, web, homes)
    bounds = [(partitions * n // tasks, partitions * (n + 1) // tasks) for n in range(tasks)]
    solution, _ = iterate(store, graph, bounds, tmp_path, runner, tolerance=TOLERANCE, rounds=13)
    by_partition = sorted(solution, key=lambda entry: entry.partition)
    vector = np.concatenate([ArrayFile(store, entry).read("vector") for entry in by_partition])
    found = np.empty(web.nodes)
    found[np.argsort(homes, kind="stable")] = vector / vector.sum()
    assert np.abs(found - np.load(SHARED / "uk-2007-05.pagerank.npy")).sum() <= TOLERANCE
    assert abs(found.sum() - 1) <= 1e-12


def test_one_task_solves_for_several_teleports(store: LocalStore, tmp_path: Path) -> None:
    web = _as_counted(TROUBLE["a link farm"])
    stored = store_graph(store, web, 2, [node % 5 for node in range(web.nodes)])
    graph = make_graph(store, stored.snapshot, tmp_path)
    to_two = Teleport("urls", (stable_hash(stored.urls[7]), stable_hash(stored.urls[90])))
    teleports = (Teleport("uniform"), to_two)
    solutions, _ = iterate(store, graph, [(0, 2)], tmp_path, tolerance=1e-9, teleports=teleports)
    wanted = np.zeros(web.nodes)
    wanted[[7, 90]] = 0.5
    for solution, teleport in zip(solutions, (uniform_teleport(web.nodes), wanted), strict=True):
        ranks = ranks_by_url(store, stored.snapshot, graph, (solution,))
        found = np.array([ranks[url] for url in stored.urls])
        assert np.abs(found - dense_rank(web, teleport)).sum() <= 1e-9


def _as_counted(web: Graph) -> Graph:
    """Return the graph by the rules of ranking: a link counts once, and a link to itself not at all."""
    pairs = np.unique(np.stack([web.sources, web.targets], axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return Graph(web.nodes, pairs[:, 0], pairs[:, 1])
