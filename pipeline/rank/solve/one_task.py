"""PageRank in one task: the whole matrix in memory.

Let d be the damping, v the teleport, and M the links: a matrix with one column per page. The column of a page
adds up to 1, or to 0 if the page has no links. We solve (I − dM)y = v and publish y/‖y‖₁. This is exactly the
PageRank in which pages without links pass their rank on like the teleport, but their rank need not be
collected in every step. Since pages without links give no rank to others, the iteration leaves them out, and
one product at the end computes their ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.rank.graph.sparse_blocks import Product
from crawlctl.pipeline.rank.solve.anderson import SLOTS, WORSE, coefficients, combined, products_of
from crawlctl.pipeline.rank.solve.stop_rule import StopRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.rank.graph.sparse_blocks import Block, Floats

SWEEPS = 5  # sweeps between two mixings; a mixing takes about as long as a sweep
LIMIT = 20_000  # sweeps; even with a damping of .99 a plain iteration needs fewer


class Solution(NamedTuple):
    """The vector y (not scaled), a bound of the error of y/‖y‖₁ in L1, and the number of sweeps."""

    vector: Floats
    error: float
    sweeps: int


class Matrix:
    """The links between all nodes, ready to be solved for one teleport after the other."""

    def __init__(self, blocks: list[Block], out_weights: NDArray[np.number]) -> None:
        """Take blocks that use the same node numbers, and the sum of the link weights of each node."""
        self.nodes = len(out_weights)
        self._core = np.flatnonzero(out_weights)  # the nodes with links
        index = np.full(self.nodes, -1, np.int64)
        index[self._core] = np.arange(len(self._core))
        self._shares: Floats = 1.0 / out_weights[self._core].astype(np.float64)
        inner = [block.only(index[block.rows] >= 0) for block in blocks]
        self._inner = Product([block.moved(index, index) for block in inner])
        outer = [block.only(index[block.rows] < 0) for block in blocks]
        self._outer = Product([block.moved(0, index) for block in outer])

    def solve(
        self, teleport: Floats, *, damping: float, tolerance: float, start: Floats | None = None
    ) -> Solution:
        """Return the solution for a teleport, which adds up to 1.

        The iteration begins with `start`, the ranks of an earlier graph, or else with the teleport.
        """
        rule = StopRule(damping, tolerance)
        scale = damping * self._shares
        first = teleport if start is None else self._as_solution(start, teleport, damping)
        core, moved, sweeps = self._iterate(teleport[self._core], scale, rule, first[self._core])
        vector = teleport.astype(np.float64)
        vector[self._core] = core
        self._outer.add_to(vector, scale * core)
        # In a crawl whose pages are all gone the teleport leads nowhere, and the sum is 0.
        return Solution(vector, rule.error(moved, float(vector.sum())), sweeps)

    def _as_solution(self, ranks: Floats, teleport: Floats, damping: float) -> Floats:
        """Return ranks with the sum that y has, in which nodes without a rank have their teleport.

        y adds up to the teleport, which is 1, and the damped sum of the nodes with links.
        """
        missing = float(ranks.sum()) - damping * float(ranks[self._core].sum())
        return np.maximum(ranks / missing, teleport) if missing > 0 else teleport

    def _iterate(
        self, teleport: Floats, scale: Floats, rule: StopRule, start: Floats
    ) -> tuple[Floats, float, int]:
        """Return the vector of the nodes with links, how far a step would move it, and the sweeps it took."""
        elsewhere = 1 - float(teleport.sum())
        current, plain = start, start
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
                # The sum lacks the nodes without links; that only makes the bound stricter.
                if rule.is_met(moved, float(current.sum())):
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
