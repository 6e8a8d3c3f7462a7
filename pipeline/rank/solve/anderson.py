"""Anderson mixing: the next vector of an iteration from the last few, which halves the rounds and more.

Of an iteration y → x the steps f = x − y tell how far off the vectors were. Mixing finds the combination of
the last vectors, with coefficients that add up to 1, whose combined step is smallest, and goes on from there.
For a linear iteration that is GMRES in disguise; where rounding or a short memory spoils it, the residual
shows it, and whoever mixes goes on from the plain vector. All that a part of the vector adds to the choice is
a small matrix of products, so that parts on different machines can agree on it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats

DEPTH = 5  # differences of steps that are remembered; more gain next to nothing
SLOTS = DEPTH + 1
RIDGE = 1e-12  # of the trace, so that steps that hardly differ do not blow the coefficients up
WORSE = 2.0  # times the last residual: mixing has failed


class Products(NamedTuple):
    """The products of the differences of steps with each other, and with the last step."""

    gram: Floats  # square
    last: Floats

    def __add__(self, other: tuple[object, ...]) -> Products:
        """Return the products over both parts of a vector."""
        if not isinstance(other, Products):
            return NotImplemented
        return Products(self.gram + other.gram, self.last + other.last)


def products_of(steps: Sequence[Floats]) -> Products:
    """Return the products of the last steps of a vector or of a part of one, the oldest first."""
    differences = [after - before for before, after in pairwise(steps)]
    size = len(differences)
    gram, last = np.zeros((size, size)), np.zeros(size)
    for row, one in enumerate(differences):
        last[row] = one @ steps[-1]
        for column, other in enumerate(differences[: row + 1]):
            gram[row, column] = gram[column, row] = one @ other
    return Products(gram, last)


def coefficients(products: Products) -> Floats:
    """Return the coefficients of the remembered vectors, the oldest first; they add up to 1."""
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
    """Return the solution of a few equations, or what is not a number where they have none.

    LAPACK would come to another one on another processor, and these equations tell so little about some of
    their unknowns that it might be quite another; but parts on different machines have to agree.
    """
    rows = [[*row, last] for row, last in zip(matrix, right, strict=True)]
    for place in range(len(rows)):
        heads = [abs(row[place]) for row in rows]
        at = max(range(place, len(rows)), key=heads.__getitem__)
        rows[place], rows[at] = rows[at], rows[place]
        pivot = rows[place]
        if not pivot[place]:
            return np.full(len(right), np.nan)
        for row in rows[place + 1 :]:
            factor = row[place] / pivot[place]
            for column in range(place, len(row)):
                row[column] -= factor * pivot[column]
    found = [0.0] * len(rows)
    for place in reversed(range(len(rows))):
        *known, last = rows[place]
        rest = [known[column] * found[column] for column in range(place + 1, len(rows))]
        found[place] = (last - sum(rest)) / known[place]
    return np.array(found)


def combined(mix: Floats, vectors: Sequence[Floats]) -> Floats:
    """Return the combination of some vectors."""
    result: Floats = mix[-1] * vectors[-1]
    for share, vector in zip(mix[:-1].tolist(), vectors[:-1], strict=True):
        if share:
            result += share * vector
    return result
