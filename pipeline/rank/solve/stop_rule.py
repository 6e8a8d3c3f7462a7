"""The stop rule of PageRank: when a vector is good enough, in one task and in many.

We solve (I − dM)y = v, with d the damping, M the links and v the teleport (one_task.py), and publish y/‖y‖₁.
The error of the published vector is bounded, not guessed. Let x be any vector, r = v + dMx − x its residual,
and p = x/‖x‖₁ the same vector scaled to a sum of 1. One step of PageRank changes p by (r − v Σr)/‖x‖₁. (In
such a step pages without links pass their rank on like the teleport.) A step also multiplies the distance
between any two vectors of sum 1 by at most d. So the distance to the solution p* is

    ‖p* − p‖₁ ≤ moved / ((1 − d) total)     with moved = ‖r − v Σr‖₁ and total = ‖x‖₁

The iteration stops when this bound is at most the tolerance (setting rank.tolerance). One task computes
`moved` by this formula. Of many tasks each knows only its part of r; they use the larger number ‖r‖₁ + |Σr|.

An iteration that never meets the rule ends with an error: after LIMIT sweeps in one task (one_task.py), or
after MOST_JOBS jobs in many tasks (crawl/ranking.py).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StopRule:
    """The rule for one damping and one tolerance."""

    damping: float
    tolerance: float  # the largest error of the published ranks, in L1

    def is_met(self, moved: float, total: float) -> bool:
        """Return whether a vector with this `total`, which a step would change by `moved`, is good enough."""
        return moved <= (1 - self.damping) * self.tolerance * total

    def error(self, moved: float, total: float) -> float:
        """Return the bound of the error of such a vector, scaled to a sum of 1."""
        return moved / ((1 - self.damping) * (total or 1.0))
