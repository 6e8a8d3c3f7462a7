"""Anderson mixing: combines the last vectors of an iteration into the next vector.

With mixing the iteration needs less than half as many rounds.

An iteration turns a vector y into a vector x. The step f = x − y shows how far y was from the solution.
Mixing looks for coefficients, which add up to 1, with which the combined step of the last vectors is
smallest. The iteration continues from the combined vector. For a linear iteration this is equivalent to
GMRES. Rounding errors, or the small number of remembered vectors, can spoil the mix; then the residual grows,
and the solver continues from the plain vector. The coefficients depend on a small matrix of products, each of
which is a sum over all nodes. So tasks on different machines add up their products, and get the same
coefficients.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats

DEPTH = 5  # differences of steps that are remembered; more gain almost nothing
SLOTS = DEPTH + 1  # vectors that are remembered
RIDGE = 1e-12  # × the trace is added to the diagonal: keeps the coefficients small if steps hardly differ
WORSE = 2.0  # a residual that has grown by this factor means that mixing has failed


class Products(NamedTuple):
    """The products of the differences of steps with each other, and with the last step."""

    gram: Floats  # square
    last: Floats

    def __add__(self, other: tuple[object, ...]) -> Products:
        """Return the products over the nodes of both tasks."""
        if not isinstance(other, Products):
            return NotImplemented
        return Products(self.gram + other.gram, self.last + other.last)


def products_of(steps: Sequence[Floats]) -> Products:
    """Return the products of the last steps (the oldest first), over all nodes or over those of one task."""
    differences = [after - before for before, after in pairwise(steps)]
    size = len(differences)
    gram, last = np.zeros((size, size)), np.zeros(size)
    for row, one in enumerate(differences):
        last[row] = _dot(one, steps[-1])
        for column, other in enumerate(differences[: row + 1]):
            gram[row, column] = gram[column, row] = _dot(one, other)
    return Products(gram, last)


def _dot(one: Floats, other: Floats) -> float:
    # `one @ other` would use BLAS. Its threads wait for each other in busy loops, which takes more CPU time
    # than the products themselves.
    return float(np.einsum("i,i->", one, other))


def coefficients(products: Products) -> Floats:
    """Return the coefficients of the remembered vectors, the oldest first; their sum is 1."""
    size = len(products.last)
    mixed = np.zeros(size + 1)
    mixed[-1] = 1.0
    scale = float(np.trace(products.gram))
    if not 0 < scale < np.inf:
        return mixed
    shares = _solved((products.gram + RIDGE * scale * np.eye(size)).tolist(), products.last.tolist())
    if np.isfinite(shares).all():
        mixed[1:] -= shares
        mixed[:-1] += shares
    return mixed


def _solved(matrix: list[list[float]], right: list[float]) -> Floats:
    """Return the solution of a few linear equations, NaN if there is none.

    LAPACK is not used: its results differ in the last bits from processor to processor. These equations can
    be so ill-conditioned that the solutions would then differ a lot, but tasks on different machines have to
    agree.
    """
    rows = [[*row, last] for row, last in zip(matrix, right, strict=True)]
    for step in range(len(rows)):
        heads = [abs(row[step]) for row in rows]
        at = max(range(step, len(rows)), key=heads.__getitem__)
        rows[step], rows[at] = rows[at], rows[step]
        pivot = rows[step]
        if not pivot[step]:
            return np.full(len(right), np.nan)
        for row in rows[step + 1 :]:
            factor = row[step] / pivot[step]
            for column in range(step, len(row)):
                row[column] -= factor * pivot[column]
    found = [0.0] * len(rows)
    for step in reversed(range(len(rows))):
        *known, last = rows[step]
        rest = [known[column] * found[column] for column in range(step + 1, len(rows))]
        found[step] = (last - sum(rest)) / known[step]
    return np.array(found)


def combined(mix: Floats, vectors: Sequence[Floats]) -> Floats:
    """Return the sum of the vectors, each times its coefficient."""
    result: Floats = mix[-1] * vectors[-1]
    for share, vector in zip(mix[:-1].tolist(), vectors[:-1], strict=True):
        if share:
            result += share * vector
    return result
