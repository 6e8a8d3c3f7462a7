"""TaskMatrix: the links between the nodes that one task computes: its own nodes and those of its halo."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.rank.graph.sparse_blocks import NO_LINKS, Block, Product, make_block, stacked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats
    from crawlctl.pipeline.rank.solve.halo import Halo


@dataclass(frozen=True)
class TaskMatrix:
    """The own nodes of one task, followed by the nodes of its halo, and the links between them."""

    nodes: int  # the number of nodes of the task itself
    shares: Floats  # damping / number of links, 0 without links
    teleport: Floats
    own: Sequence[Block]
    to_halo: Block
    from_halo: Block
    # Between the nodes of the halo, by their indices in it; known from the third round on.
    in_halo: Block = NO_LINKS

    @property
    def own_shares(self) -> Floats:
        """The share of its rank that each own node gives to each of its links."""
        return self.shares[: self.nodes]

    @property
    def received_size(self) -> int:
        """The length of the vector of received numbers (sending.Layout)."""
        return 2 * len(self.shares) - self.nodes

    @cached_property
    def _links(self) -> Product:
        in_halo = self.in_halo.moved(self.nodes, self.nodes)
        return Product([*self.own, self.to_halo, self.from_halo, in_halo])

    def knowing(self, in_halo: Block) -> TaskMatrix:
        """Return this matrix with the links between the nodes of the halo."""
        return replace(self, in_halo=in_halo)

    def fixed(self, given: Floats, halo: Floats) -> Floats:
        """Return the rank that does not change during a round, of the own nodes and of the halo.

        `given` is the rank that other tasks give to each node, `halo` the ranks of the halo when the round
        begins. What the halo gives to itself by these ranks is subtracted, because sweeps compute it anew.
        """
        fixed = self.teleport + given
        to_itself = np.zeros(len(halo))
        Product([self.in_halo]).add_to(to_itself, self.shares[self.nodes :] * halo)
        fixed[self.nodes :] -= to_itself
        return fixed

    def sweep(self, vector: Floats, fixed: Floats, times: int, *, plain: bool = False) -> Floats:
        """Return x after `times` steps x ← fixed + links(x), beginning with `vector`.

        In a plain round the ranks of the halo stay as they are.
        """
        for _ in range(times):
            following = fixed.copy()
            self._links.add_to(following, self.shares * vector)
            if plain:
                following[self.nodes :] = vector[self.nodes :]
            vector = following
        return vector


def make_task_matrix(
    own: Sequence[Block], shares: Floats, teleport: Floats, halo: Halo, links: Iterable[tuple[Block, Block]]
) -> TaskMatrix:
    """Return the matrix of a task; `links` are, for each task, our links to its nodes and theirs to ours."""
    nodes, to_halo, sources, targets = len(shares), [], [], []
    for task, (outgoing, incoming) in enumerate(links):
        mine, first = halo.of(task), nodes + int(halo.starts[task])
        at, which = outgoing.find_rows(mine)
        to_halo.append(outgoing.chosen_rows(at)._replace(rows=first + which))
        places = np.full(int(incoming.sources.max(initial=-1)) + 1, -1, np.int64)
        known = mine[mine < len(places)]
        places[known] = first + np.arange(len(known))
        placed = places[incoming.sources]
        sources.append(placed[placed >= 0])
        targets.append(np.repeat(incoming.rows, incoming.counts)[placed >= 0])
    none = np.zeros(0, np.int64)
    return TaskMatrix(
        nodes,
        np.concatenate([shares, halo.shares]),
        np.concatenate([teleport, halo.teleport]),
        own,
        stacked(to_halo),
        make_block(np.concatenate([none, *sources]), np.concatenate([none, *targets])),
    )
