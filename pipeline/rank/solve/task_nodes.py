"""A part: the nodes of one task, with the links among them and those that leave them.

What it gives to others is told apart by region (regions.py): a value for each node of another part and each
of its own regions that links to it. In a block the links to a node stand in the order of their sources, and
regions are runs of these, so that the rows of a block need only be cut further.
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


class Layout(NamedTuple):
    """What the numbers a part sends to another one are about, which it tells once."""

    rows: Numbers  # of the values, nodes of the receiver
    origins: Numbers  # of the values, regions of the sender
    into: Numbers  # of the flows, by region
    out_of: Numbers
    teleport: Floats  # of the regions of the sender


class Given(NamedTuple):
    """What a part has to tell of a vector."""

    values: Floats  # what its nodes give to those of the other parts, by region
    masses: Floats  # what its regions hold
    flows: Floats  # what they pass on to all regions


@dataclass(frozen=True)
class Part:
    """The nodes of one task: how much of its rank each gives to each link, and where that goes."""

    shares: Floats  # damping / links, 0 without links
    teleport: Floats
    own: Product
    regions: Numbers  # of its nodes, in the numbering of all
    sizes: tuple[
        int, ...
    ]  # how many values are for each part; those of a part follow those of the one before
    _cut: Product  # all links by region of the source, to a place each
    _rows: Numbers  # of the places that are values
    _origins: Numbers
    _keys: Numbers  # of all places: their two regions in one number
    _pairs: Numbers  # those numbers, each once
    _numbering: Regions
    _number: int

    def sweep(self, vector: Floats, fixed: Floats, times: int) -> Floats:
        """Let the nodes give to each other some times, where those of other parts give what is fixed."""
        for _ in range(times):
            following = fixed.copy()
            self.own.add_to(following, self.shares * vector)
            vector = following
        return vector

    def given(self, vector: Floats) -> Given:
        """Return what there is to tell of a vector."""
        places = np.zeros(len(self._keys))
        self._cut.add_to(places, self.shares * vector)
        most = self._numbering.count_of(self._number) * self._numbering.count
        flows = sums_at(self._keys, places, most)[self._pairs]
        return Given(places[len(places) - sum(self.sizes) :], self._by_region(vector), flows)

    def layouts(self) -> list[Layout]:
        """Return what each part has to know to read what it is sent."""
        ends = np.cumsum([0, *self.sizes]).tolist()
        out_of, into = np.divmod(self._pairs, self._numbering.count)
        out_of = out_of + self._numbering.starts[self._number]
        teleport = self._by_region(self.teleport)
        return [
            Layout(self._rows[first:last], self._origins[first:last], into, out_of, teleport)
            for first, last in pairwise(ends)
        ]

    def _by_region(self, vector: Floats) -> Floats:
        first, count = self._numbering.starts[self._number], self._numbering.count_of(self._number)
        return sums_at(self.regions - first, vector, count)


def make_part(
    number: int, blocks: Sequence[Sequence[Block]], shares: Floats, teleport: Floats, regions: Regions
) -> Part:
    """Return a part by its blocks of links to each part, among them itself."""
    mine = regions.of_nodes(number)
    of_all = [regions.of_nodes(part) for part in range(len(blocks))]
    ordered = [number, *(part for part in range(len(blocks)) if part != number)]
    cut = [
        (part, _cut(piece, mine)) for part in ordered for block in blocks[part] for piece in block.pieces()
    ]
    places, at = [], 0
    for _, block in cut:
        places.append(block._replace(rows=np.arange(at, at + len(block.rows))))
        at += len(block.rows)
    none = [np.zeros(0, np.int64)]
    origins = np.concatenate([*none, *(mine[block.sources[block.starts]] for _, block in cut)])
    into = np.concatenate([*none, *(of_all[part][block.rows] for part, block in cut)])
    keys = (origins - regions.starts[number]) * regions.count + into
    sizes = [sum(len(block.rows) for part, block in cut if part == other) for other in range(len(blocks))]
    inside, sizes[number] = sizes[number], 0
    rows = np.concatenate([*none, *(block.rows for part, block in cut if part != number)])
    return Part(
        shares,
        teleport,
        Product(list(blocks[number])),
        mine,
        tuple(sizes),
        Product(places),
        rows,
        origins[inside:],
        keys,
        np.flatnonzero(np.bincount(keys)),
        regions,
        number,
    )


def _cut(block: Block, regions: Numbers) -> Block:
    """Return a block with its rows cut by the region of the sources; a node then has several."""
    origins = regions[block.sources]
    begins = np.diff(origins, prepend=-1) != 0
    begins[block.starts] = True
    starts = np.flatnonzero(begins)
    rows = np.searchsorted(block.starts, starts, side="right") - 1
    return block._replace(rows=block.rows[rows], starts=starts)
