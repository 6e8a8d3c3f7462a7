"""Sending: the numbers that a task sends to each other task in a round, and where the receiver puts them.

A task (the receiver) computes the ranks of its own nodes and of the nodes of its halo (halo.py). So from each
other task (the sender) it needs

    values   1. for each of its own nodes: the rank that flows to it from the nodes of the sender, without
                those nodes of the sender that are in the halo
             2. for each node of its halo: the rank that flows to it from all nodes of the sender
    ranks    of those nodes of its halo that belong to the sender; the round begins with these ranks

All these numbers are linear in the rank vector of the sender. So that the sums for a node of a halo are the
same for all receivers, they include the rank that flows between nodes of the halo. The receiver also learns
these links, once, and subtracts that rank again (TaskMatrix.fixed).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.rank.graph.sparse_blocks import NO_LINKS, Product, merged, stacked, sums_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.rank.graph.sparse_blocks import Block, Floats, Numbers
    from crawlctl.pipeline.rank.solve.halo import Halo

_NONE = np.zeros(0, np.int64)


class Layout(NamedTuple):
    """Where the receiver puts the numbers of one sender, or of all senders; it is the same in all rounds.

    `rows` and `places` are indices of one vector of received numbers. It has three sections: values for the
    own nodes, values for the nodes of the halo, ranks of the nodes of the halo.
    """

    rows: Numbers  # the index to which each value is added
    places: Numbers  # the index at which each rank is put
    in_halo: Block  # links from nodes of the sender in the halo to nodes of the halo, by indices in the halo

    def received(self, contribution: Contribution, size: int) -> Floats:
        """Return the vector of received numbers, from the messages of a round."""
        received = sums_at(self.rows, contribution.values, size)
        received[self.places] = contribution.ranks
        return received


def joined(layouts: Sequence[Layout]) -> Layout:
    """Return the layout of the messages of all senders, in the order of the layouts."""
    rows, places, in_halo = zip(*layouts, strict=True)
    return Layout(np.concatenate(rows), np.concatenate(places), merged(in_halo))


class Contribution(NamedTuple):
    """The numbers that one task sends to another task, or those for all other tasks end to end."""

    values: Floats
    ranks: Floats


@dataclass(frozen=True)
class Sending:
    """How a task computes the numbers that it sends, and how these are divided among the receivers."""

    sums: Block  # one row per sum to compute, with the links that the sum adds up; rows are numbered from 0
    picked: Numbers  # for each value, the row of its sum
    seen: Numbers  # for each rank, the node that has this rank
    rows: Numbers  # `rows` of the layouts of all receivers, end to end
    places: Numbers  # `places` of the layouts of all receivers, end to end
    values_each: Numbers  # how many values each task receives
    ranks_each: Numbers  # how many ranks each task receives
    in_halo: Block  # `in_halo` of the layouts of all receivers, end to end
    linked_each: Numbers  # how many rows of it each task receives

    @cached_property
    def _product(self) -> Product:
        return Product([self.sums])

    def contribution(self, vector: Floats, shares: Floats) -> Contribution:
        """Return the numbers for all other tasks; a link of a node carries its share of the node's rank."""
        sums = np.zeros(len(self.sums.rows))
        self._product.add_to(sums, shares * vector)
        return Contribution(sums[self.picked], vector[self.seen])

    def layouts(self) -> list[Layout]:
        """Return the layout of the messages to each task."""
        rows, places = divided(self.rows, self.values_each), divided(self.places, self.ranks_each)
        linked = divided(np.arange(len(self.in_halo.rows)), self.linked_each)
        return list(map(Layout, rows, places, map(self.in_halo.chosen_rows, linked)))


def divided(items: NDArray[Any], each: NDArray[np.integer]) -> list[NDArray[Any]]:
    """Return the items of each task, in the order of tasks; `each` says how many items a task has."""
    return np.split(items, np.cumsum(each)[:-1])


def make_sending(
    number: int, blocks: Sequence[Block], sizes: Sequence[int], halos: Sequence[Halo]
) -> Sending:
    """Return the Sending of the task `number`; `blocks` are its links to the nodes of each task."""
    maker = _Maker(number, blocks, sizes)
    for receiver, halo in enumerate(halos):
        maker.add(receiver, halo)
    return maker.made()


class _Maker:
    """Collects the sums to compute, one receiver after the other.

    The sum for a node of a halo is the same for all receivers, so it is computed once.
    """

    def __init__(self, number: int, blocks: Sequence[Block], sizes: Sequence[int]) -> None:
        self._number, self._blocks, self._sizes = number, blocks, sizes
        # The number of the first node of each task, if the nodes of all tasks are numbered in one order.
        self._firsts = starts_of(np.array(sizes))
        moved = [block.moved(first, 0) for block, first in zip(blocks, self._firsts.tolist(), strict=True)]
        self._whole = stacked(moved)  # for each node of any task, our links to it
        # For each receiver, our links to its own nodes, without those of our nodes that are in its halo.
        self._parts: list[Block] = []
        self._part_rows = 0
        self._picked, self._rows = [_NONE], [_NONE]
        self._seen, self._places = [_NONE], [_NONE]
        self._in_halo: list[Block] = []
        self._each: list[tuple[int, int]] = []

    def add(self, receiver: int, halo: Halo) -> None:
        """Add a receiver: values for its own nodes and its halo, and the ranks of our nodes in its halo."""
        if receiver == self._number:
            self._each.append((0, 0))
            self._in_halo.append(NO_LINKS)
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
        self._in_halo.append(self._links_in(halo, at, which))
        self._picked.append(-1 - at)  # negative: a row of `_whole`; `made` replaces it by the final row
        self._rows.append(self._sizes[receiver] + which)
        return len(at)

    def _links_in(self, halo: Halo, at: Numbers, which: Numbers) -> Block:
        """Return our links within a halo; it has rows of `_whole`, `at`, as its nodes `which`."""
        mine = halo.of(self._number)
        index = np.full(self._sizes[self._number], -1, np.int64)
        index[mine] = halo.starts[self._number] + np.arange(len(mine))
        whole = self._whole.chosen_rows(at)._replace(rows=which)
        return whole.without_sources(index < 0).moved(0, index)

    def made(self) -> Sending:
        """Return the Sending, after all receivers were added."""
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
            stacked(self._in_halo),
            np.array([len(links.rows) for links in self._in_halo]),
        )
