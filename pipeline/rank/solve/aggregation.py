"""Aggregation: corrects the ranks of whole regions of nodes by the graph between the regions.

Rank that travels through many tasks advances by one task per round, however many sweeps each task makes. So
tasks also send each other the rank that their regions hold and pass on to all other regions. From that every
task computes the rank that each region would hold in the end if the nodes in it kept their shares of it. It
scales the ranks of its nodes, and what it has received from others, by the ratio. This is the aggregation and
disaggregation of Koury, McAllister and Stewart; ranks that are right it does not change.

A region is a range of nodes in the order of the WebDB: host by host, path by path. Such neighbours link
mostly to each other. All tasks have to compute the same numbers on any machine, so no sum here is left to a
library that may choose the order: `np.bincount` adds one value after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.rank.graph.sparse_blocks import sums_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats, Numbers

MOST_REGIONS = 512  # of all tasks together; the graph between them goes to every task in every round
LEAST_NODES = 64  # per region
CORRECTIONS = 30  # steps over the graph of regions; each reduces the error by about a seventh


@dataclass(frozen=True)
class Regions:
    """The regions of all tasks in one numbering: those of task t begin with number `starts[t]`."""

    sizes: Sequence[int]  # the number of nodes of each task
    starts: Sequence[int]

    @property
    def count(self) -> int:
        """The number of regions of all tasks."""
        return self.starts[-1]

    def of_nodes(self, task: int) -> Numbers:
        """Return the region of each node of a task."""
        first, size = self.starts[task], self.sizes[task]
        return first + np.arange(size) * self.count_of(task) // max(1, size)

    def count_of(self, task: int) -> int:
        """Return the number of regions of a task."""
        return self.starts[task + 1] - self.starts[task]


def cut_into_regions(sizes: Sequence[int]) -> Regions:
    """Return the regions of tasks with these numbers of nodes: MOST_REGIONS at most, but one per task."""
    nodes = max(1, sum(sizes))
    counts = [max(1, min(size // LEAST_NODES, MOST_REGIONS * size // nodes)) for size in sizes]
    return Regions(sizes, np.cumsum([0, *counts]).tolist())


@dataclass(frozen=True)
class Incoming:
    """The meaning of the numbers in all messages to a task; it stays the same in all rounds.

    It joins the MessageLayout of all senders, in their order.
    """

    rows: Numbers  # the node that each value is for; a node may come many times
    origins: Numbers  # the region that each value comes from
    into: Numbers  # the region that each flow leads to
    out_of: Numbers  # the region that each flow comes from
    teleport: Floats  # of each region

    def received(self, values: Floats, scales: Floats, nodes: int) -> Floats:
        """Return what the nodes of this task receive when the regions of the senders are scaled."""
        return sums_at(self.rows, values * scales[self.origins], nodes)

    def scales(self, masses: Floats, flows: Floats) -> Floats:
        """Return the factor by which to scale each region, from the rank that regions hold and pass on."""
        unchanged = np.ones(len(masses))
        if (masses < 0).any():
            return unchanged  # mixing has made ranks negative; then shares have no meaning
        held = np.where(masses > 0, masses, 1.0)
        passed = flows / held[self.out_of]
        found = masses
        for _ in range(CORRECTIONS):
            found = self.teleport + sums_at(self.into, passed * found[self.out_of], len(masses))
        scales: Floats = np.where(masses > 0, found / held, 1.0)
        return scales if np.isfinite(scales).all() and (scales > 0).all() else unchanged
