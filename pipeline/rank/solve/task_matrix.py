"""The matrix of one task among many: the links among its nodes, and the links that leave them.

The contribution of a task to the nodes of another is split by region (aggregation.py): one value per node of
the other task and region of its own that links to it. In a block the links to a node stand in the order of
their sources, and a region is a range of nodes. So the rows of a block need only be cut further.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.rank.graph.sparse_blocks import Block, Product, sums_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats, Numbers
    from crawlctl.pipeline.rank.solve.aggregation import Regions


class MessageLayout(NamedTuple):
    """The meaning of the numbers that one task sends to another; it is sent once, in the first round."""

    rows: Numbers  # the node of the receiver that each value is for
    origins: Numbers  # the region of the sender that each value comes from
    into: Numbers  # the region that each flow leads to
    out_of: Numbers  # the region that each flow comes from
    teleport: Floats  # of the regions of the sender


class Contribution(NamedTuple):
    """What the rank vector of a task contributes to other tasks."""

    values: Floats  # what its nodes give to the nodes of the other tasks, by region
    masses: Floats  # the rank that its regions hold
    flows: Floats  # the rank that they pass on to all regions


@dataclass(frozen=True)
class TaskMatrix:
    """The nodes of one task: the share of its rank that each gives to each of its links, and the links."""

    shares: Floats  # damping / number of links, 0 without links
    teleport: Floats
    own: Product  # the links among the nodes of the task
    regions: Numbers  # the region of each node, in the numbering of all tasks
    sizes: tuple[int, ...]  # the number of values for each task, in the order of tasks
    _cut: Product  # all links, with one row per target and region of the source
    _rows: Numbers  # the targets of the cut rows that leave the task
    _origins: Numbers  # their regions of the sources
    _keys: Numbers  # of all cut rows: region of the sources and region of the target in one number
    _pairs: Numbers  # the distinct keys
    _numbering: Regions
    _number: int  # of the task

    def sweep(self, vector: Floats, fixed: Floats, times: int) -> Floats:
        """Return x after `times` steps x ← fixed + own links(x), beginning with `vector`."""
        for _ in range(times):
            following = fixed.copy()
            self.own.add_to(following, self.shares * vector)
            vector = following
        return vector

    def contribution(self, vector: Floats) -> Contribution:
        """Return what a vector contributes to other tasks."""
        cut = np.zeros(len(self._keys))
        self._cut.add_to(cut, self.shares * vector)
        most = self._numbering.count_of(self._number) * self._numbering.count
        flows = sums_at(self._keys, cut, most)[self._pairs]
        return Contribution(cut[len(cut) - sum(self.sizes) :], self._by_region(vector), flows)

    def layouts(self) -> list[MessageLayout]:
        """Return the layout of the messages to each task."""
        ends = np.cumsum([0, *self.sizes]).tolist()
        out_of, into = np.divmod(self._pairs, self._numbering.count)
        out_of = out_of + self._numbering.starts[self._number]
        teleport = self._by_region(self.teleport)
        return [
            MessageLayout(self._rows[first:last], self._origins[first:last], into, out_of, teleport)
            for first, last in pairwise(ends)
        ]

    def _by_region(self, vector: Floats) -> Floats:
        first, count = self._numbering.starts[self._number], self._numbering.count_of(self._number)
        return sums_at(self.regions - first, vector, count)


def make_task_matrix(
    number: int, blocks: Sequence[Sequence[Block]], shares: Floats, teleport: Floats, regions: Regions
) -> TaskMatrix:
    """Return the matrix of the task `number` from its blocks of links to each task, its own included."""
    mine = regions.of_nodes(number)
    cut = _cut_blocks(number, blocks, mine)
    none = [np.zeros(0, np.int64)]
    of_all = [regions.of_nodes(task) for task in range(len(blocks))]
    origins = np.concatenate([*none, *(mine[block.sources[block.starts]] for _, block in cut)])
    into = np.concatenate([*none, *(of_all[task][block.rows] for task, block in cut)])
    keys = (origins - regions.starts[number]) * regions.count + into
    sizes = [sum(len(block.rows) for task, block in cut if task == other) for other in range(len(blocks))]
    inside, sizes[number] = sizes[number], 0
    return TaskMatrix(
        shares,
        teleport,
        Product(list(blocks[number])),
        mine,
        tuple(sizes),
        Product(_one_row_after_the_other([block for _, block in cut])),
        np.concatenate([*none, *(block.rows for task, block in cut if task != number)]),
        origins[inside:],
        keys,
        np.flatnonzero(np.bincount(keys)),
        regions,
        number,
    )


def _cut_blocks(number: int, blocks: Sequence[Sequence[Block]], regions: Numbers) -> list[tuple[int, Block]]:
    """Return the blocks cut by region, each with the task that it leads to; the task itself comes first."""
    ordered = [number, *(task for task in range(len(blocks)) if task != number)]
    return [
        (task, _cut(some, regions)) for task in ordered for block in blocks[task] for some in block.slices()
    ]


def _cut(block: Block, regions: Numbers) -> Block:
    """Return a block with its rows cut by the region of the sources; a node then has several rows."""
    origins = regions[block.sources]
    begins = np.diff(origins, prepend=-1) != 0
    begins[block.starts] = True
    starts = np.flatnonzero(begins)
    rows = np.searchsorted(block.starts, starts, side="right") - 1
    return block._replace(rows=block.rows[rows], starts=starts)


def _one_row_after_the_other(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with their rows numbered through, instead of by target."""
    numbered, at = [], 0
    for block in blocks:
        numbered.append(block._replace(rows=np.arange(at, at + len(block.rows))))
        at += len(block.rows)
    return numbered
