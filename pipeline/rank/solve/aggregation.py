"""Regions: runs of neighbouring nodes whose ranks are set right together, by the small graph between them.

Rank that goes round through many parts gets on by one part a round, however many sweeps each makes. So parts
also tell each other how much rank their regions hold and pass on to all others. From that every part works
out for itself how much each region would hold in the end if all in it kept their shares, and raises or lowers
the ranks of its nodes, and what it was given by others, accordingly. This is the aggregation and
disaggregation of Koury, McAllister and Stewart; where ranks are right it changes nothing.

Neighbours are so in the order of the WebDB, host by host and path by path, and link mostly to each other.
Every part has to come to the same numbers on whatever machine, so nothing here leaves the order of a sum to a
library: `np.bincount` adds one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.rank.graph.sparse_blocks import sums_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats, Numbers

MOST_REGIONS = 512  # of all parts; their graph goes to every part in every round
LEAST_NODES = 64  # of a region
CORRECTIONS = 30  # steps over the graph of regions, each of which takes about a seventh off the error


@dataclass(frozen=True)
class Regions:
    """The regions of all parts in one numbering: those of part p begin with number `starts[p]`."""

    sizes: Sequence[int]  # the nodes of each part
    starts: Sequence[int]

    @property
    def count(self) -> int:
        """How many there are."""
        return self.starts[-1]

    def of_nodes(self, part: int) -> Numbers:
        """Return the region of each node of a part."""
        first, size = self.starts[part], self.sizes[part]
        return first + np.arange(size) * self.count_of(part) // max(1, size)

    def count_of(self, part: int) -> int:
        """Return how many regions a part has."""
        return self.starts[part + 1] - self.starts[part]


def cut_into_regions(sizes: Sequence[int], most: int) -> Regions:
    """Cut parts of so many nodes into at most so many regions, but one a part at least."""
    nodes = max(1, sum(sizes))
    counts = [max(1, min(size // LEAST_NODES, most * size // nodes)) for size in sizes]
    return Regions(sizes, np.cumsum([0, *counts]).tolist())


@dataclass(frozen=True)
class Incoming:
    """What the numbers that parts send are about, once and for all; senders follow each other."""

    rows: Numbers  # the node that each value is for, which may be named many times
    origins: Numbers  # and the region that it comes from
    into: Numbers  # the region that each flow leads to
    out_of: Numbers  # and the one it comes from
    teleport: Floats  # of each region

    def received(self, values: Floats, scales: Floats, nodes: int) -> Floats:
        """Return what the nodes of a part are given, where regions are scaled."""
        return sums_at(self.rows, values * scales[self.origins], nodes)

    def scales(self, masses: Floats, flows: Floats) -> Floats:
        """Return by how much the ranks of each region are too low, by what all regions hold and pass on."""
        nothing = np.ones(len(masses))
        if (masses < 0).any():
            return nothing  # mixing has led below 0, where shares mean nothing
        held = np.where(masses > 0, masses, 1.0)
        passed = flows / held[self.out_of]
        found = masses
        for _ in range(CORRECTIONS):
            found = self.teleport + sums_at(self.into, passed * found[self.out_of], len(masses))
        scales: Floats = np.where(masses > 0, found / held, 1.0)
        return scales if np.isfinite(scales).all() and (scales > 0).all() else nothing
