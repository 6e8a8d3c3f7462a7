"""Graphs that make trouble, their PageRank by a dense solve, and tasks that exchange messages in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.rank.graph.sparse_blocks import make_block
from crawlctl.pipeline.rank.solve.block_jacobi import (
    PastRound,
    add_up,
    first_round,
    next_round,
)
from crawlctl.pipeline.rank.solve.halo import Neighbour, choose_halo, no_halo
from crawlctl.pipeline.rank.solve.sending import Contribution, divided, joined, make_sending
from crawlctl.pipeline.rank.solve.stop_rule import StopRule
from crawlctl.pipeline.rank.solve.task_matrix import TaskMatrix, make_task_matrix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.rank.graph.sparse_blocks import Block, Floats, Numbers
    from crawlctl.pipeline.rank.solve.halo import Halo
    from crawlctl.pipeline.rank.solve.sending import Layout, Sending

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


class Part(NamedTuple):
    """What a task knows before the first message."""

    number: int
    nodes: Numbers
    shares: Floats
    teleport: Floats
    degrees: Numbers
    outgoing: list[Block]  # to each part
    incoming: list[Block]


def parts_of(web: Graph, homes: Numbers, teleport: Floats, damping: float = DAMPING) -> list[Part]:
    """Return the parts of a graph; `homes` by node."""
    count = int(homes.max()) + 1
    members = [np.flatnonzero(homes == number) for number in range(count)]
    place = np.zeros(web.nodes, np.int64)
    for mine in members:
        place[mine] = np.arange(len(mine))
    ways = homes[web.sources] * count + homes[web.targets]
    chosen = [ways == way for way in range(count * count)]
    blocks = [make_block(place[web.sources[some]], place[web.targets[some]]) for some in chosen]
    shares = damping / np.maximum(web.degrees, 1) * (web.degrees > 0)
    return [
        Part(
            number,
            mine,
            shares[mine],
            teleport[mine],
            web.degrees[mine],
            blocks[number * count :][:count],
            blocks[number::count],
        )
        for number, mine in enumerate(members)
    ]


def halos_of(parts: list[Part]) -> list[Halo]:
    """Return the halo that each part chooses."""
    return [
        choose_halo(
            (
                Neighbour(other.number, other.shares, other.teleport, other.degrees, incoming, outgoing)
                for other, incoming, outgoing in zip(parts, part.incoming, part.outgoing, strict=True)
                if other is not part
            ),
            part.shares,
            sum(len(block.sources) for block in part.outgoing),
            len(parts),
        )
        for part in parts
    ]


def solve_in_tasks(
    web: Graph,
    homes: Numbers,
    teleport: Floats,
    tolerance: float,
    damping: float = DAMPING,
    limit: int = 500,
    last: Floats | None = None,
) -> tuple[Floats, int]:
    """Return PageRank by tasks that know each other by messages only, and the rounds; `homes` by node."""
    parts = parts_of(web, homes, teleport, damping)
    lasts = [None if last is None else last[part.nodes] for part in parts]
    vectors, rounds = _exchange(parts, lasts, damping, tolerance, limit)
    vector = np.zeros(web.nodes)
    for part, found in zip(parts, vectors, strict=True):
        vector[part.nodes] = found
    return vector / vector.sum(), rounds


class Stage(NamedTuple):
    """Whom each part sends what, and the matrices with which it computes what it receives."""

    matrices: list[TaskMatrix]
    sendings: list[Sending]
    layouts: list[Layout]

    def arrived(self, sent: list[Contribution], receiver: int) -> Contribution:
        """Return what one part receives of all that is sent."""
        columns = [
            (
                divided(one.values, sending.values_each)[receiver],
                divided(one.ranks, sending.ranks_each)[receiver],
            )
            for one, sending in zip(sent, self.sendings, strict=True)
        ]
        return Contribution(*map(np.concatenate, zip(*columns, strict=True)))


def stage_of(parts: list[Part], halos: list[Halo]) -> Stage:
    sizes = [len(part.nodes) for part in parts]
    matrices = [
        make_task_matrix(
            [part.outgoing[part.number]],
            part.shares,
            part.teleport,
            halo,
            zip(part.outgoing, part.incoming, strict=True),
        )
        for part, halo in zip(parts, halos, strict=True)
    ]
    sendings = [make_sending(part.number, part.outgoing, sizes, halos) for part in parts]
    layouts = [joined(sent) for sent in zip(*(sending.layouts() for sending in sendings), strict=True)]
    knowing = [matrix.knowing(layout.in_halo) for matrix, layout in zip(matrices, layouts, strict=True)]
    return Stage(knowing, sendings, layouts)


def _exchange(
    parts: list[Part], lasts: list[Floats | None], damping: float, tolerance: float, limit: int
) -> tuple[list[Floats], int]:
    alone, overlapping = stage_of(parts, [no_halo(len(parts))] * len(parts)), stage_of(parts, halos_of(parts))
    results = [first_round(matrix, last) for matrix, last in zip(alone.matrices, lasts, strict=True)]
    past: list[list[PastRound]] = [[] for _ in parts]
    before = np.inf
    for rounds in range(1, limit):
        stage = alone if rounds == 1 else overlapping
        sent = [
            result.messages(
                number,
                sending,
                sending.contribution(result.vector, matrix.own_shares),
                with_layout=False,
            )
            for number, (result, sending, matrix) in enumerate(
                zip(results, stage.sendings, stage.matrices, strict=True)
            )
        ]
        summaries = [add_up(messages) for messages in zip(*sent, strict=True)]
        first = summaries[0]
        if StopRule(damping, tolerance).is_met(first.moved, first.total):
            return [result.vector - result.step for result in results if result.step is not None], rounds
        course = first.course(before, rounds - 1, damping)
        before = first.residual
        for number, matrix in enumerate(stage.matrices):
            result, summary = results[number], summaries[number]
            received = stage.layouts[number].received(summary.contribution, matrix.received_size)
            last = PastRound(result.vector, result.step, received)
            results[number], past[number] = next_round(matrix, [*past[number], last], summary, course)
    raise AssertionError(f"not solved in {limit} rounds")
