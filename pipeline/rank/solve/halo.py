"""The halo of a task: nodes of other tasks whose ranks it computes along with its own.

Rank that circulates between two tasks, from a page to a page of the other task and back, advances by one task
per round, however many sweeps each task makes. Many webs are full of such circles: two pages that name each
other as translations, or a menu whose pages belong to two tasks. A task that also computes the page of the
other task goes round the circle in its own sweeps. The ranks that it computes for its halo are used only for
this; the published rank of a node comes from the task that owns it. In the literature this is the restricted
additive Schwarz method with an overlap of 1.

A node is the better for a halo, the more of its rank it gives to the task, and the more the task gives to it.
The halo takes the best nodes, up to a share of the size of the task, so that it does not exceed the memory.
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

    nodes: Numbers  # by the numbers that they have in their own task
    starts: Numbers  # where the nodes of each task begin, and the end of the last
    shares: Floats  # what each gives to each of its links: damping / number of links
    teleport: Floats

    def of(self, task: int) -> Numbers:
        """Return the nodes that belong to a task, ascending."""
        return self.nodes[self.starts[task] : self.starts[task + 1]]


class Neighbour(NamedTuple):
    """Another task, as seen by a task that chooses its halo."""

    task: int
    shares: Floats
    teleport: Floats
    incoming: Block  # the links from its nodes to ours
    outgoing: Block  # our links to its nodes


def no_halo(tasks: int) -> Halo:
    """Return the halo of a task that has none."""
    return Halo(np.zeros(0, np.int64), np.zeros(tasks + 1, np.int64), np.zeros(0), np.zeros(0))


def choose_halo(neighbours: Iterable[Neighbour], shares: Floats, links: int, tasks: int) -> Halo:
    """Return the halo of a task, by the shares of its nodes and the number of its links."""
    # One neighbour after the other: all of their nodes together would not fit into the memory.
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
    given: Floats  # the part of its rank that each gives to the task
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
            BYTES_PER_ARC * links[nodes] + BYTES_PER_NODE,
            neighbour.shares[nodes],
            neighbour.teleport[nodes],
        )
