"""PageRank in one task: the whole matrix in memory.

With d the damping, M the links (a column for each page, which adds up to 1, or to 0 where a page has none)
and v the teleport, we solve (I − dM)y = v and publish y/‖y‖₁. That is exactly the PageRank in which pages
without links pass their rank on like the teleport does, and their rank need not be gathered in every step.
Better: since such pages give nothing back, the iteration runs over the others alone, and one product in the
end gives theirs.

The error is bounded, not guessed. Scaled to p = x/‖x‖₁, a vector x with the residual r = v + dMx − x is moved
by one step of PageRank, in which those pages do pass their rank on, by (r − v Σr)/‖x‖₁. That step brings any
two vectors of sum 1 nearer to each other by the factor d at least, so ‖p* − p‖₁ ≤ ‖r − v Σr‖₁/((1 − d)‖x‖₁).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.rank.graph.sparse_blocks import Product
from crawlctl.pipeline.rank.solve.anderson import SLOTS, WORSE, coefficients, combined, products_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.rank.graph.sparse_blocks import Block, Floats

SWEEPS = 5  # between two mixings, which cost about as much as one of them
LIMIT = 20_000  # sweeps; even with a damping of .99 a plain iteration needs fewer


class Solution(NamedTuple):
    """The vector y, not scaled, what is left of the bound of its error, and the sweeps it took."""

    vector: Floats
    error: float  # of y/‖y‖₁ at most, in L1
    sweeps: int


class Matrix:
    """The links between all nodes, ready to be solved for one teleport after the other."""

    def __init__(self, blocks: list[Block], out_weights: NDArray[np.number]) -> None:
        """Take the blocks in one numbering, and the sum of the weights of the links of each node."""
        self.nodes = len(out_weights)
        self._core = np.flatnonzero(out_weights)
        place = np.full(self.nodes, -1, np.int64)
        place[self._core] = np.arange(len(self._core))
        self._shares: Floats = 1.0 / out_weights[self._core].astype(np.float64)
        inner = [block.only(place[block.rows] >= 0) for block in blocks]
        self._inner = Product([block.moved(place, place) for block in inner])
        outer = [block.only(place[block.rows] < 0) for block in blocks]
        self._outer = Product([block.moved(0, place) for block in outer])

    def solve(self, teleport: Floats, *, damping: float, tolerance: float) -> Solution:
        """Return the solution for a teleport, which adds up to 1."""
        scale = damping * self._shares
        core, moved, sweeps = self._iterate(teleport[self._core], scale, (1 - damping) * tolerance)
        vector = teleport.astype(np.float64)
        vector[self._core] = core
        self._outer.add_to(vector, scale * core)
        total = float(vector.sum()) or 1.0  # a crawl whose pages are all gone has none to teleport to
        return Solution(vector, moved / ((1 - damping) * total), sweeps)

    def _iterate(self, teleport: Floats, scale: Floats, least: float) -> tuple[Floats, float, int]:
        """Return the vector of the nodes with links, how far a step would move it, and the sweeps.

        `least` is how far it may be moved, as a part of its sum.
        """
        elsewhere = 1 - float(teleport.sum())
        current, plain = teleport, teleport
        vectors: list[Floats] = []
        steps: list[Floats] = []
        before = np.inf
        for sweeps in range(0, LIMIT, SWEEPS):
            start = current
            for sweep in range(SWEEPS):
                following = teleport.copy()
                self._inner.add_to(following, scale * current)
                residual = following - current
                drift = float(residual.sum())
                moved = float(np.abs(residual - drift * teleport).sum()) + abs(drift) * elsewhere
                # Nodes without links have the rest of the sum; without it the bound is only stricter.
                if moved <= least * float(current.sum()):
                    return current, moved, sweeps + sweep + 1
                if sweep == 0 and moved > WORSE * before:
                    current, vectors, steps, before = plain, [], [], np.inf
                    break
                before = moved if sweep == 0 else before
                current = following
            else:
                plain = current
                vectors, steps = [*vectors, current][-SLOTS:], [*steps, current - start][-SLOTS:]
                current = combined(coefficients(products_of(steps)), vectors)
        raise ConfigError(
            f"ranks are not known well enough after {LIMIT} sweeps; set a larger rank.tolerance"
        )
