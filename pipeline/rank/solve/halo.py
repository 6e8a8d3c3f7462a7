"""The halo of a task: nodes of other tasks whose ranks it computes along with its own.

Rank may flow in a circle between two tasks: from a page to a page of the other task, and back. It then moves
on by only one task per round, although each task makes many sweeps in a round. Many webs are full of such
circles: two pages that name each other as translations, or a menu whose pages belong to two tasks. If a task
also computes the page of the other task, the whole circle is part of its own sweeps. The ranks that a task
computes for its halo are used only for this; the published rank of a node comes from the task that owns the
node. In the literature this is the restricted additive Schwarz method with an overlap of 1.

A node of another task is the more useful in the halo, the more of its rank it gives to our task, and the more
rank our task gives to it. The halo takes the most useful nodes, up to a share of the size of the task, so
that it fits into the memory. The task also learns the links between nodes of its halo, from the tasks that
own these nodes. Without these links a circle that leaves the task for two pages would still move on by one
task per round: for example a page, its translation, the next page of the translation, and back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.rank.graph.sparse_blocks import Product
from crawlctl.pipeline.rank.graph.stored_graph import BYTES_PER_ARC, BYTES_PER_NODE, HALO_SHARE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.rank.graph.sparse_blocks import Block, Floats, Numbers


class Halo(NamedTuple):
    """Nodes of other tasks, in the order of the tasks and of their nodes."""

    nodes: Numbers  # the numbers that the nodes have in their own task
    starts: Numbers  # the index of the first node of each task, and the end of the last task
    shares: (
        Floats  # the share of its rank that each node gives to each of its links: damping / number of links
    )
    teleport: Floats

    def of(self, task: int) -> Numbers:
        """Return the nodes that belong to a task, ascending."""
        return self.nodes[self.starts[task] : self.starts[task + 1]]


class Neighbour(NamedTuple):
    """Another task, as seen by a task that chooses its halo."""

    task: int
    shares: Floats
    teleport: Floats
    degrees: Numbers  # the number of links of each of its nodes
    incoming: Block  # the links from its nodes to ours
    outgoing: Block  # our links to its nodes


def no_halo(tasks: int) -> Halo:
    """Return the halo of a task that has none."""
    return Halo(np.zeros(0, np.int64), np.zeros(tasks + 1, np.int64), np.zeros(0), np.zeros(0))


def choose_halo(neighbours: Iterable[Neighbour], shares: Floats, links: int, tasks: int) -> Halo:
    """Return the halo of a task; `shares` are those of its own nodes, `links` is the number of its links."""
    # One neighbour after the other, because the nodes of all neighbours would not fit into the memory.
    found = [_Candidates.of(neighbour, shares) for neighbour in neighbours]
    columns = [np.concatenate([np.zeros(0), *some]) for some in zip(*found, strict=True)]
    task, node, worth, given, cost, share, teleport = columns or [np.zeros(0)] * len(_Candidates._fields)
    order = np.lexsort((-given, -worth))
    limit = HALO_SHARE * (BYTES_PER_ARC * links + BYTES_PER_NODE * len(shares))
    chosen = np.sort(order[np.cumsum(cost[order]) <= limit])
    starts = np.searchsorted(task[chosen], np.arange(tasks + 1))
    return Halo(node[chosen].astype(np.int64), starts, share[chosen], teleport[chosen])


class _Candidates(NamedTuple):
    """The nodes of a neighbour that link to the nodes of a task."""

    task: Floats
    nodes: Floats
    worth: Floats
    given: Floats  # the share of its rank that each node gives to the task
    cost: Floats  # bytes of memory
    shares: Floats
    teleport: Floats

    @classmethod
    def of(cls, neighbour: Neighbour, shares: Floats) -> _Candidates:
        size = len(neighbour.shares)
        links = np.bincount(neighbour.incoming.sources, minlength=size).astype(np.float64)
        received = np.zeros(size)
        Product([neighbour.outgoing]).add_to(received, shares)
        nodes = np.flatnonzero(links)
        given = links[nodes] * neighbour.shares[nodes]
        return cls(
            np.full(len(nodes), float(neighbour.task)),
            nodes.astype(np.float64),
            given * received[nodes],
            given,
            # Each of its links may lead to our task or to the halo.
            BYTES_PER_ARC * neighbour.degrees[nodes].astype(np.float64) + BYTES_PER_NODE,
            neighbour.shares[nodes],
            neighbour.teleport[nodes],
        )
