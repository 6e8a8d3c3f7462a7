"""PageRank in many tasks: block Jacobi with mixing, one message per round between each two tasks.

A task holds the links among its own nodes and the links that leave them (task_matrix.py). In a round it takes
the contributions of the other tasks as fixed, makes a few sweeps over its own links, and sends the
contribution of its nodes to the nodes of the other tasks. A message also has the products that mixing needs,
and the rank that the regions of the task hold and pass on. All of this is linear: the contribution of a mixed
or scaled vector is the mix of the contributions of the vectors. So each task mixes and scales what it has
received in the same way, and needs no further message.

    round r       y, b      the mixed vector, and what others contribute to it, teleport included
                  x         after SWEEPS times x ← b + own links(x), beginning with y
                  x − y     the step; the first sweep alone gives the true residual of y
                  messages  residual and sum of y, products of the last steps, masses and flows of regions,
                            other links(x) by region
    round r + 1   z         x with every region scaled; y is a mix of the last z

The residuals of all tasks together bound the error of y (stop_rule.py).

Mixing and scaling make most rounds worth several, but there is no proof that they always do. A plain round,
one that continues from x as it is, reduces the residual by the factor d, the damping, at least, because what
remains of it was multiplied by d at a link. So if the residual has doubled since the round before, or is far
from the dʳ of r plain rounds, all tasks forget the earlier rounds and make a plain one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.rank.solve.anderson import SLOTS, WORSE, Products, coefficients, combined, products_of
from crawlctl.pipeline.rank.solve.task_matrix import Contribution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats
    from crawlctl.pipeline.rank.solve.aggregation import Incoming
    from crawlctl.pipeline.rank.solve.task_matrix import MessageLayout, TaskMatrix

SWEEPS = 5
FAR = 10.0  # times the residual that as many plain rounds would have left


@dataclass(frozen=True)
class PastRound:
    """The memory of a past round: z, the step x − y, and what the other tasks' z give to our nodes."""

    vector: Floats
    step: Floats | None  # None after the first round, which begins without a y
    received: Floats


@dataclass(frozen=True)
class Message:
    """What one task sends to another after a round."""

    sender: int
    residual: float  # of the sender's y, in L1
    drift: float  # the sum of that residual
    total: float  # the sum of y
    products: Products
    contribution: Contribution  # with the values for the receiver only
    layout: MessageLayout | None = None  # in the first round


@dataclass(frozen=True)
class RoundSummary:
    """The messages of a round added up; equal in every task, but for the values of `contribution`."""

    residual: float
    drift: float
    total: float
    products: Products
    contribution: Contribution  # of all senders, one after the other

    @property
    def moved(self) -> float:
        """How far a step of PageRank would move y at most, for the stop rule."""
        return self.residual + abs(self.drift)

    def is_astray(self, before: float, round_number: int, damping: float) -> bool:
        """Return whether mixing or scaling has failed in this round; `before` is the residual of the last."""
        if round_number == 0:
            return False  # there is no y yet
        return self.residual > min(WORSE * before, FAR * damping**round_number)


@dataclass(frozen=True)
class RoundResult:
    """The end of a round in a task: its new vector and step, and the numbers for its messages."""

    vector: Floats
    step: Floats | None
    residual: float
    drift: float
    total: float
    products: Products
    contribution: Contribution  # with the values for all other tasks

    def messages(
        self, sender: int, sizes: Sequence[int], layouts: Sequence[MessageLayout] | None = None
    ) -> list[Message]:
        """Return one message per task; `sizes` are the numbers of values for each."""
        found, at = [], 0
        for receiver, size in enumerate(sizes):
            own = self.contribution._replace(values=self.contribution.values[at : at + size])
            layout = None if layouts is None else layouts[receiver]
            found.append(Message(sender, self.residual, self.drift, self.total, self.products, own, layout))
            at += size
        return found


def first_round(matrix: TaskMatrix) -> RoundResult:
    """Make the first round of a task, before any message."""
    vector = matrix.sweep(matrix.teleport, matrix.teleport, SWEEPS)
    nothing = Products(np.zeros((0, 0)), np.zeros(0))
    return RoundResult(vector, None, np.inf, 0.0, 1.0, nothing, matrix.contribution(vector))


def add_up(messages: Sequence[Message]) -> RoundSummary:
    """Add up the messages of a round."""
    # Always in the same order, so that every task gets the same sums and takes the same decisions.
    ordered = sorted(messages, key=lambda message: message.sender)
    products = ordered[0].products
    for message in ordered[1:]:
        products = products + message.products
    return RoundSummary(
        sum(message.residual for message in ordered),
        sum(message.drift for message in ordered),
        sum(message.total for message in ordered),
        products,
        Contribution(*map(np.concatenate, zip(*(message.contribution for message in ordered), strict=True))),
    )


def scales_of(incoming: Incoming, summary: RoundSummary, *, plain: bool) -> Floats:
    """Return the factor by which each region is scaled after a round."""
    masses, flows = summary.contribution.masses, summary.contribution.flows
    return np.ones(len(masses)) if plain else incoming.scales(masses, flows)


def remember(
    matrix: TaskMatrix,
    summary: RoundSummary,
    incoming: Incoming,
    scales: Floats,
    *,
    vector: Floats,
    step: Floats | None,
) -> PastRound:
    """Return what a task remembers of the round that the summary ends."""
    received = incoming.received(summary.contribution.values, scales, len(vector))
    return PastRound(vector * scales[matrix.regions], step, received)


def next_round(
    matrix: TaskMatrix, past: Sequence[PastRound], summary: RoundSummary, *, plain: bool
) -> tuple[RoundResult, list[PastRound]]:
    """Make the next round of a task; return its result and the past rounds that are still remembered."""
    kept = [] if plain else [one for one in past if one.step is not None]
    if kept:
        mix = coefficients(summary.products)
        start = combined(mix, [one.vector for one in kept])
        received = combined(mix, [one.received for one in kept])
    else:
        start, received = past[-1].vector, past[-1].received
    fixed = matrix.teleport + received
    first = matrix.sweep(start, fixed, 1)
    vector = matrix.sweep(first, fixed, SWEEPS - 1)
    step = vector - start
    remembered = kept[1 - SLOTS :]
    result = RoundResult(
        vector,
        step,
        float(np.abs(first - start).sum()),
        float((first - start).sum()),
        float(start.sum()),
        products_of([*(one.step for one in remembered if one.step is not None), step]),
        matrix.contribution(vector),
    )
    return result, remembered
