"""Links as a sparse matrix in blocks, and its product with a vector, in numpy alone.

A block has the links from one range of nodes to another, by target: a row for each node that is linked to,
with the numbers of the nodes that link to it. Rows without links do not exist, so that `np.add.reduceat` adds
up each row; cut into pieces that stay in the cache this takes about twice the time of scipy's compiled
product, which mixing (mixing.py) and leaving pages without links out (solve.py) more than make up for. That
is why scipy, as large as the rest of crawlctl's dependencies together, is not one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

PIECE_ARCS = 1 << 17  # 1 MB of values, which stay in the cache from the one pass over them to the other


class Block(NamedTuple):
    """The links between two ranges of nodes; the sources of row i begin at `starts[i]`."""

    rows: Numbers  # targets, ascending, each once
    starts: Numbers
    sources: Numbers
    weights: Floats | None = None  # of each link, 1 without

    def pieces(self) -> Iterator[Block]:
        """Yield the block cut between rows into pieces of about PIECE_ARCS links."""
        if len(self.sources) <= PIECE_ARCS:
            yield self
            return
        marks = np.arange(PIECE_ARCS, len(self.sources), PIECE_ARCS)
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
        """Return the block with some of its rows."""
        counts = np.diff(self.starts, append=len(self.sources))
        of_wanted = np.repeat(wanted, counts)
        weights = None if self.weights is None else self.weights[of_wanted]
        return Block(self.rows[wanted], starts_of(counts[wanted]), self.sources[of_wanted], weights)

    def moved(self, rows: int | Numbers, sources: int | Numbers) -> Block:
        """Return the block with its nodes numbered anew: by an offset, or by a table of the new numbers."""
        return self._replace(rows=_renumbered(self.rows, rows), sources=_renumbered(self.sources, sources))


def _renumbered(nodes: Numbers, numbers: int | Numbers) -> Numbers:
    return nodes + numbers if isinstance(numbers, int) else numbers[nodes]


def starts_of(counts: NDArray[np.integer]) -> Numbers:
    """Return where each of some runs begins, by their lengths."""
    starts = np.zeros(len(counts), np.int64)
    np.cumsum(counts[:-1], out=starts[1:])
    return starts


def sums_at(places: Numbers, values: Floats, count: int) -> Floats:
    """Return the sum of the values at each place below a count, added one after the other."""
    # Of nothing at all numpy makes integers.
    return np.bincount(places, weights=values, minlength=count).astype(np.float64, copy=False)


def make_block(sources: NDArray[np.integer], targets: NDArray[np.integer]) -> Block:
    """Return the block of links between numbered nodes; one that is given twice counts twice."""
    # One sort of pairs packed into a number is many times faster than a stable sort by target.
    packed = np.sort(targets.astype(np.uint64) << np.uint64(32) | sources.astype(np.uint64))
    ordered = (packed >> np.uint64(32)).astype(np.int64)
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return Block(ordered[starts], starts, (packed & np.uint64(0xFFFFFFFF)).astype(np.int64))


class Product:
    """Adds what some blocks make of a vector to another."""

    def __init__(self, blocks: list[Block]) -> None:
        self.arcs = sum(len(block.sources) for block in blocks)
        self._pieces = [piece for block in blocks for piece in block.pieces() if len(piece.rows)]
        self._values = np.empty(max((len(piece.sources) for piece in self._pieces), default=0))

    def add_to(self, result: Floats, vector: Floats) -> None:
        """Add matrix times vector to the result."""
        for rows, starts, sources, weights in self._pieces:
            values = self._values[: len(sources)]
            np.take(vector, sources, out=values, mode="clip")  # any other mode copies through a buffer
            if weights is not None:
                values *= weights
            result[rows] += np.add.reduceat(values, starts)
