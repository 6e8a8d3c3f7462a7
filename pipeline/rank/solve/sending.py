"""What a task sends to each other task in a round, and where the receiver puts it.

A task computes its own nodes and the nodes of its halo (halo.py). From each other task it needs

    values   for its own nodes, what they receive from the nodes of the other task, without those in the halo;
             for all nodes of its halo, what they receive from the nodes of the other task
    ranks    of those nodes of its halo that belong to the other task; a round begins with them

All of these are linear in the rank vector of the sender. The receiver does not know the links between nodes
of its halo: the rank that these links carry is in the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.rank.graph.sparse_blocks import Product, stacked, sums_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.rank.graph.sparse_blocks import Block, Floats, Numbers
    from crawlctl.pipeline.rank.solve.halo import Halo

_NONE = np.zeros(0, np.int64)


class Layout(NamedTuple):
    """The meaning of the numbers from one task to another, or from all; it stays the same in all rounds.

    Both are indices of what the task has received: for its own nodes, for its halo, the ranks of the halo.
    """

    rows: Numbers  # where each value is added
    places: Numbers  # where each rank is put

    def received(self, contribution: Contribution, size: int) -> Floats:
        """Return what a task has received by the messages of a round."""
        received = sums_at(self.rows, contribution.values, size)
        received[self.places] = contribution.ranks
        return received


class Contribution(NamedTuple):
    """The contribution of the rank vector of a task to another task, or to all other tasks, end to end."""

    values: Floats
    ranks: Floats


@dataclass(frozen=True)
class Sending:
    """How a task computes what it sends, and how that is divided among the tasks."""

    sums: Block  # one row per sum, numbered through, of the links that it adds up
    picked: Numbers  # the sum that each value is
    seen: Numbers  # the node that each rank is of
    rows: Numbers  # the rows of all layouts, end to end
    places: Numbers
    values_each: Numbers  # how many values each task receives
    ranks_each: Numbers

    @cached_property
    def _product(self) -> Product:
        return Product([self.sums])

    def contribution(self, vector: Floats, shares: Floats) -> Contribution:
        """Return what a vector contributes to all other tasks."""
        sums = np.zeros(len(self.sums.rows))
        self._product.add_to(sums, shares * vector)
        return Contribution(sums[self.picked], vector[self.seen])

    def layouts(self) -> list[Layout]:
        """Return the layout of the messages to each task."""
        rows, places = divided(self.rows, self.values_each), divided(self.places, self.ranks_each)
        return list(map(Layout, rows, places))


def divided(items: NDArray[Any], each: NDArray[np.integer]) -> list[NDArray[Any]]:
    """Return what belongs to each task, in the order of tasks."""
    return np.split(items, np.cumsum(each)[:-1])


def make_sending(
    number: int, blocks: Sequence[Block], sizes: Sequence[int], halos: Sequence[Halo]
) -> Sending:
    """Return how the task `number` sends, by its links to the nodes of each task and the halos of all."""
    maker = _Maker(number, blocks, sizes)
    for receiver, halo in enumerate(halos):
        maker.add(receiver, halo)
    return maker.made()


class _Maker:
    """Gathers the sums that are sent, receiver by receiver; those for halos are the same for all of them."""

    def __init__(self, number: int, blocks: Sequence[Block], sizes: Sequence[int]) -> None:
        self._number, self._blocks, self._sizes = number, blocks, sizes
        self._firsts = starts_of(np.array(sizes))  # of each task, where the nodes of all are numbered through
        moved = [block.moved(first, 0) for block, first in zip(blocks, self._firsts.tolist(), strict=True)]
        self._whole = stacked(moved)  # what all our nodes together give to each node
        self._parts: list[Block] = []  # what some of them give
        self._part_rows = 0
        self._picked, self._rows = [_NONE], [_NONE]
        self._seen, self._places = [_NONE], [_NONE]
        self._each: list[tuple[int, int]] = []

    def add(self, receiver: int, halo: Halo) -> None:
        """Add what a task receives: for its nodes, for its halo, and the ranks of the nodes that it sees."""
        if receiver == self._number:
            self._each.append((0, 0))
            return
        values = self._add_for_nodes(receiver, halo) + self._add_for_halo(receiver, halo)
        seen = halo.of(self._number)
        first = self._sizes[receiver] + len(halo.nodes) + int(halo.starts[self._number])
        self._seen.append(seen)
        self._places.append(np.arange(first, first + len(seen)))
        self._each.append((values, len(seen)))

    def _add_for_nodes(self, receiver: int, halo: Halo) -> int:
        in_halo = np.zeros(self._sizes[self._number], np.bool_)
        in_halo[halo.of(self._number)] = True
        rest = self._blocks[receiver].without_sources(in_halo)
        self._parts.append(rest)
        self._picked.append(np.arange(self._part_rows, self._part_rows + len(rest.rows)))
        self._rows.append(rest.rows)
        self._part_rows += len(rest.rows)
        return len(rest.rows)

    def _add_for_halo(self, receiver: int, halo: Halo) -> int:
        owners = np.repeat(np.arange(len(self._sizes)), np.diff(halo.starts))
        at, which = self._whole.find_rows(self._firsts[owners] + halo.nodes)
        self._picked.append(-1 - at)  # of the whole sums, until the number of the other sums is known
        self._rows.append(self._sizes[receiver] + which)
        return len(at)

    def made(self) -> Sending:
        """Return how the task sends."""
        picked = np.concatenate(self._picked)
        of_whole = picked < 0
        used, again = np.unique(-1 - picked[of_whole], return_inverse=True)
        picked[of_whole] = self._part_rows + again
        values_each, ranks_each = np.array(self._each, np.int64).T
        sums = stacked([*self._parts, self._whole.chosen_rows(used)])
        return Sending(
            sums._replace(rows=np.arange(len(sums.rows))),
            picked,
            np.concatenate(self._seen),
            np.concatenate(self._rows),
            np.concatenate(self._places),
            values_each,
            ranks_each,
        )
