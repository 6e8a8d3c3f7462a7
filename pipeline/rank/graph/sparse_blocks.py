"""Links as a sparse matrix in blocks, and its product with a vector, in numpy alone.

A block holds the links from one range of nodes to another range, sorted by target: one row per target, with
the nodes that link to it. A node to which no node links has no row, because `np.add.reduceat` cannot add up
an empty row. If the blocks are cut into slices that stay in the cache, a product takes about twice the time
of scipy's compiled product. Mixing (solve/anderson.py) and leaving out pages without links
(solve/one_task.py) gain more than that. So scipy, which is as large as all other dependencies of crawlctl
together, is not needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.arrays.ragged import indices_of, starts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

SLICE_ARCS = 1 << 17  # links; 1 MB of values, which stay in the cache between the two passes over a slice


class Block(NamedTuple):
    """The links between two ranges of nodes; the sources of row i begin at `starts[i]`."""

    rows: Numbers  # targets, ascending, each once
    starts: Numbers
    sources: Numbers
    weights: Floats | None = None  # the weight of each link; None: each link weighs 1

    @property
    def counts(self) -> Numbers:
        """The number of links of each row."""
        return np.diff(self.starts, append=len(self.sources))

    def slices(self) -> Iterator[Block]:
        """Yield the block in slices of whole rows, each with about SLICE_ARCS links."""
        if len(self.sources) <= SLICE_ARCS:
            yield self
            return
        marks = np.arange(SLICE_ARCS, len(self.sources), SLICE_ARCS)
        cuts = np.unique([0, *np.searchsorted(self.starts, marks).tolist(), len(self.rows)])
        ends = np.append(self.starts, len(self.sources))
        for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            first, last = int(ends[low]), int(ends[high])
            yield Block(
                self.rows[low:high],
                self.starts[low:high] - first,
                self.sources[first:last],
                None if self.weights is None else self.weights[first:last],
            )

    def only(self, wanted: NDArray[np.bool_]) -> Block:
        """Return the block with the wanted rows only."""
        counts = self.counts
        of_wanted = np.repeat(wanted, counts)
        weights = None if self.weights is None else self.weights[of_wanted]
        return Block(self.rows[wanted], starts_of(counts[wanted]), self.sources[of_wanted], weights)

    def chosen_rows(self, indices: Numbers) -> Block:
        """Return the block with some of its rows only, by their indices; it has no weights."""
        counts = self.counts[indices]
        links = indices_of(self.starts[indices], counts)
        return Block(self.rows[indices], starts_of(counts), self.sources[links])

    def find_rows(self, nodes: Numbers) -> tuple[Numbers, Numbers]:
        """Return the indices of the rows of these nodes, and the indices of those nodes that have a row."""
        if not len(self.rows):
            return self.rows, self.rows
        at = np.minimum(np.searchsorted(self.rows, nodes), len(self.rows) - 1)
        which = np.flatnonzero(self.rows[at] == nodes)
        return at[which], which

    def without_sources(self, left_out: NDArray[np.bool_]) -> Block:
        """Return the block without weights, without the links from some nodes, and without empty rows."""
        kept = ~left_out[self.sources]
        rows = np.repeat(np.arange(len(self.rows)), self.counts)[kept]
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        return Block(self.rows[rows[starts]], starts, self.sources[kept])

    def moved(self, rows: int | Numbers, sources: int | Numbers) -> Block:
        """Return the block with renumbered nodes: an offset is added, or a table maps old numbers to new."""
        return self._replace(rows=_renumbered(self.rows, rows), sources=_renumbered(self.sources, sources))


_NONE = np.zeros(0, np.int64)
NO_LINKS = Block(_NONE, _NONE, _NONE)


def _renumbered(nodes: Numbers, numbers: int | Numbers) -> Numbers:
    return nodes + numbers if isinstance(numbers, int) else numbers[nodes]


def sums_at(indices: Numbers, values: Floats, count: int) -> Floats:
    """Return, for each index below `count`, the sum of the values with this index, added in their order."""
    # If there are no values, numpy returns integers.
    return np.bincount(indices, weights=values, minlength=count).astype(np.float64, copy=False)


def make_block(sources: NDArray[np.integer], targets: NDArray[np.integer]) -> Block:
    """Return the block of links between numbered nodes; a link that is given twice counts twice."""
    # Packing each pair into one number and sorting these is many times faster than a stable sort by target.
    packed = np.sort(targets.astype(np.uint64) << np.uint64(32) | sources.astype(np.uint64))
    ordered = (packed >> np.uint64(32)).astype(np.int64)
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return Block(ordered[starts], starts, (packed & np.uint64(0xFFFFFFFF)).astype(np.int64))


def stacked(blocks: Sequence[Block]) -> Block:
    """Return the rows of some blocks one after the other; for a product no node may have two rows."""
    none = np.zeros(0, np.int64)
    counts = np.concatenate([none, *(block.counts for block in blocks)])
    return Block(
        np.concatenate([none, *(block.rows for block in blocks)]),
        starts_of(counts),
        np.concatenate([none, *(block.sources for block in blocks)]),
    )


def merged(blocks: Sequence[Block]) -> Block:
    """Return one block with the links of all blocks, in which each node has one row."""
    if len(blocks) == 1:
        return blocks[0]
    links = stacked(blocks)
    return make_block(links.sources, np.repeat(links.rows, links.counts))


class Product:
    """Multiplies vectors by some blocks, which together are one matrix; it keeps the blocks in slices."""

    def __init__(self, blocks: list[Block]) -> None:
        self.arcs = sum(len(block.sources) for block in blocks)
        self._slices = [some for block in blocks for some in block.slices() if len(some.rows)]
        self._values = np.empty(max((len(some.sources) for some in self._slices), default=0))

    def add_to(self, result: Floats, vector: Floats) -> None:
        """Add matrix times vector to the result."""
        for rows, starts, sources, weights in self._slices:
            values = self._values[: len(sources)]
            np.take(vector, sources, out=values, mode="clip")  # any other mode copies through a buffer
            if weights is not None:
                values *= weights
            result[rows] += np.add.reduceat(values, starts)
