"""Graphs that make trouble, their PageRank by a dense solve, and tasks that exchange messages in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.rank.graph.sparse_blocks import make_block
from crawlctl.pipeline.rank.solve.aggregation import Incoming, cut_into_regions
from crawlctl.pipeline.rank.solve.block_jacobi import (
    PastRound,
    add_up,
    first_round,
    next_round,
    remember,
    scales_of,
)
from crawlctl.pipeline.rank.solve.stop_rule import StopRule
from crawlctl.pipeline.rank.solve.task_matrix import TaskMatrix, make_task_matrix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats, Numbers

DAMPING = 0.85
Arcs = list[tuple[int, int]]


class Graph(NamedTuple):
    nodes: int
    sources: Numbers
    targets: Numbers

    @property
    def degrees(self) -> Numbers:
        return np.bincount(self.sources, minlength=self.nodes)


def graph(nodes: int, arcs: Iterable[tuple[int, int]]) -> Graph:
    pairs = np.array(list(arcs), np.int64).reshape(-1, 2)
    return Graph(nodes, pairs[:, 0], pairs[:, 1])


def ring(nodes: int, step: int = 1) -> Arcs:
    return [(node, (node + step) % nodes) for node in range(nodes)]


def random_arcs(nodes: int, count: int, seed: int) -> Arcs:
    pairs = np.random.default_rng(seed).integers(0, nodes, (count, 2))
    return [tuple(pair) for pair in pairs.tolist()]


TROUBLE = {
    "no links at all": graph(12, []),
    "one node": graph(1, []),
    "one node that links to itself": graph(1, [(0, 0)]),
    "all but one dangling": graph(12, [(0, node) for node in range(1, 12)]),
    "self loops": graph(12, [(node, node) for node in range(12)] + ring(12)),
    "only self loops": graph(12, [(node, node) for node in range(12)]),
    "duplicates": graph(12, 3 * ring(12) + 5 * [(0, 7)] + random_arcs(12, 20, 1)),
    "isolated parts": graph(12, [(node, node // 3 * 3 + (node + 1) % 3) for node in range(12)]),
    "a ring": graph(40, ring(40)),
    "every link crosses parts": graph(40, ring(40, 10) + ring(40, 20)),
    "two rings and a bridge": graph(40, [*ring(20), *((a + 20, b + 20) for a, b in ring(20)), (3, 25)]),
    "a link farm": graph(120, [(node, node % 4) for node in range(8, 120)] + ring(4) + [(5, 90)]),
    "a sink class": graph(
        60,
        random_arcs(50, 200, 2)
        + [(a, 50 + a % 10) for a in range(50)]
        + [(50 + a, 50 + b) for a, b in ring(10)],
    ),
    "mostly frontier": graph(100, [(a % 40, b) for a, b in random_arcs(100, 300, 3)]),
    "a chain": graph(64, [(node, node + 1) for node in range(63)]),
    "a star": graph(50, [(node, 0) for node in range(1, 50)] + [(0, node) for node in range(1, 50)]),
}


def uniform_teleport(nodes: int) -> Floats:
    return np.full(nodes, 1 / nodes)


def dense_rank(web: Graph, teleport: Floats, damping: float = DAMPING) -> Floats:
    """Return PageRank by its textbook definition: dangling pages link to where the teleport leads."""
    matrix = np.zeros((web.nodes, web.nodes))
    np.add.at(matrix, (web.targets, web.sources), 1.0)
    sums = matrix.sum(axis=0)
    matrix = np.where(sums > 0, matrix / np.maximum(sums, 1), teleport[:, None])
    rank = np.linalg.solve(np.eye(web.nodes) - damping * matrix, (1 - damping) * teleport)
    return np.asarray(rank / rank.sum(), np.float64)


def solve_in_tasks(
    web: Graph, homes: Numbers, teleport: Floats, tolerance: float, damping: float = DAMPING, limit: int = 500
) -> tuple[Floats, int]:
    """Return PageRank by tasks that know each other by messages only, and the rounds; `homes` by node."""
    count = int(homes.max()) + 1
    members = [np.flatnonzero(homes == number) for number in range(count)]
    place = np.zeros(web.nodes, np.int64)
    for mine in members:
        place[mine] = np.arange(len(mine))
    regions = cut_into_regions([len(mine) for mine in members])
    shares = damping / np.maximum(web.degrees, 1) * (web.degrees > 0)
    matrices = []
    for number, mine in enumerate(members):
        blocks = []
        for other in range(count):
            chosen = (homes[web.sources] == number) & (homes[web.targets] == other)
            blocks.append([make_block(place[web.sources[chosen]], place[web.targets[chosen]])])
        matrices.append(make_task_matrix(number, blocks, shares[mine], teleport[mine], regions))
    vectors, rounds = _exchange(matrices, damping, tolerance, limit)
    vector = np.zeros(web.nodes)
    for mine, found in zip(members, vectors, strict=True):
        vector[mine] = found
    return vector / vector.sum(), rounds


def _exchange(
    matrices: list[TaskMatrix], damping: float, tolerance: float, limit: int
) -> tuple[list[Floats], int]:
    layouts = [matrix.layouts() for matrix in matrices]
    incoming = [
        Incoming(*map(np.concatenate, zip(*sent, strict=True))) for sent in zip(*layouts, strict=True)
    ]
    results = [first_round(matrix) for matrix in matrices]
    past: list[list[PastRound]] = [[] for _ in matrices]
    before = np.inf
    for rounds in range(1, limit):
        sent = [
            result.messages(number, matrix.sizes)
            for number, (matrix, result) in enumerate(zip(matrices, results, strict=True))
        ]
        summaries = [add_up(messages) for messages in zip(*sent, strict=True)]
        first = summaries[0]
        if StopRule(damping, tolerance).is_met(first.moved, first.total):
            return [result.vector - result.step for result in results if result.step is not None], rounds
        plain = first.is_astray(before, rounds - 1, damping)
        before = first.residual
        for number, matrix in enumerate(matrices):
            result, summary = results[number], summaries[number]
            scales = scales_of(incoming[number], summary, plain=plain)
            last = remember(matrix, summary, incoming[number], scales, vector=result.vector, step=result.step)
            results[number], past[number] = next_round(matrix, [*past[number], last], summary, plain=plain)
    raise AssertionError(f"not solved in {limit} rounds")
