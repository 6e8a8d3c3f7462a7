"""PageRank in many tasks: block Jacobi with mixing. In a round each task sends a message to each other task.

Each task computes the ranks of its own nodes. It holds the links between its own nodes and the nodes of its
*halo*, in all directions. The halo is some nodes of other tasks, whose ranks the task computes too, for its
own use only (halo.py).

For one task and one round we write

    y    the ranks that the round begins with
    b    the rank that the nodes get from outside: the teleport, and the rank that nodes of other tasks give
         to them by their links. It does not change during the round
    x    the ranks that the round ends with

A round has these steps:

1. From the messages of the round before, the task computes y and b. In most rounds y is a mix of the x of the
   last rounds: a weighted sum that is better than the last x alone (anderson.py). The nodes of the halo begin
   with the mixed ranks of the tasks that own them.
2. The task makes SWEEPS sweeps x ← b + links(x), beginning with x = y. The change by the first sweep is the
   residual of y; x − y is the step of the round.
3. The task sends to each other task the rank that its x gives to the nodes there (sending.py). The message
   also has the residual and the sum of y, and the products of the last steps, from which all tasks compute
   the same weights.

The rank that nodes give to other nodes is linear in their own ranks. So if a task mixes the numbers that it
has received in the last rounds, the result is exactly what mixed ranks would have given. No further message
is needed.

The residuals of all tasks together bound the error of y (stop_rule.py).

With mixing and the halo, most rounds bring as much as several rounds without them, but there is no proof that
this is always so. If the residual has doubled since the round before, mixing has failed: all tasks forget the
earlier rounds and continue from the last x alone. A plain round does not mix, and leaves the ranks of the
halo as they are. It multiplies the residual by at most the damping d, because each link multiplies rank by d.
So r plain rounds would leave at most dʳ of the first residual. If the residual is more than FAR × dʳ after r
rounds, the next round is plain.

The halo is used from the third round on. The first round has no messages yet, and the second is plain. If
there are ranks of an earlier graph, the first round only sends these (warm_start.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.rank.solve.anderson import SLOTS, WORSE, Products, coefficients, combined, products_of
from crawlctl.pipeline.rank.solve.sending import Contribution, divided, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats
    from crawlctl.pipeline.rank.solve.sending import Layout, Sending
    from crawlctl.pipeline.rank.solve.task_matrix import TaskMatrix

# With fewer sweeps, webs with long chains of pages need more rounds; more sweeps gain almost nothing.
SWEEPS = 10
FAR = 10.0  # times the residual that the same number of plain rounds would have left


class Course(Enum):
    """How a round continues from earlier rounds."""

    MIXED = "from a mix of the last vectors"
    UNMIXED = "from the last vector"
    PLAIN = "from the last vector, with the halo held still"


@dataclass(frozen=True)
class PastRound:
    """A past round of a task: its x, its step x − y, and the contributions of other tasks to it."""

    vector: Floats
    step: Floats | None  # None after the first round, which has no y
    received: Floats


@dataclass(frozen=True)
class Message:
    """The message of one task to another task after a round."""

    sender: int
    residual: float  # the residual of the sender's y, in L1
    drift: float  # the sum of that residual
    total: float  # the sum of y
    products: Products
    contribution: Contribution
    # Set in the first round, and in the first round in which all tasks know the halos.
    layout: Layout | None = None


@dataclass(frozen=True)
class RoundSummary:
    """The sums over all messages of a round: the same in every task, except for the contribution."""

    residual: float
    drift: float
    total: float
    products: Products
    contribution: Contribution  # the contributions of all senders, end to end

    @property
    def moved(self) -> float:
        """How far a step of PageRank would move y at most, for the stop rule."""
        return self.residual + abs(self.drift)

    def course(self, before: float, round_number: int, damping: float) -> Course:
        """Return how the next round is made; `before` is the residual of the round before this one."""
        if round_number == 0:
            return Course.PLAIN  # there is no y yet, and no halo
        if self.residual > FAR * damping**round_number:
            return Course.PLAIN
        return Course.UNMIXED if self.residual > WORSE * before else Course.MIXED


@dataclass(frozen=True)
class RoundResult:
    """The end of a round in a task: its new vector and step, and the numbers for its messages."""

    vector: Floats
    step: Floats | None
    residual: float
    drift: float
    total: float
    products: Products

    def messages(
        self, sender: int, sending: Sending, contribution: Contribution, *, with_layout: bool
    ) -> list[Message]:
        """Return one message per task."""
        values = divided(contribution.values, sending.values_each)
        ranks = divided(contribution.ranks, sending.ranks_each)
        layouts = sending.layouts() if with_layout else [None] * len(values)
        numbers = sender, self.residual, self.drift, self.total, self.products
        return [
            Message(*numbers, Contribution(*own), layout)
            for *own, layout in zip(values, ranks, layouts, strict=True)
        ]


def first_round(matrix: TaskMatrix, last: Floats | None = None) -> RoundResult:
    """Make the first round of a task, before any message and without a halo.

    From the `last` ranks it does not sweep: without the rank from other tasks they would only become worse.
    """
    if last is None:
        vector = matrix.sweep(matrix.teleport, matrix.teleport, SWEEPS)
    else:
        vector = np.maximum(last, matrix.teleport)
    nothing = Products(np.zeros((0, 0)), np.zeros(0))
    return RoundResult(vector, None, np.inf, 0.0, 1.0, nothing)


def add_up(messages: Sequence[Message]) -> RoundSummary:
    """Add up the messages of a round."""
    # In the order of senders, so that every task gets the same sums to the last bit, and decides the same.
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


def next_round(
    matrix: TaskMatrix, past: Sequence[PastRound], summary: RoundSummary, course: Course
) -> tuple[RoundResult, list[PastRound]]:
    """Make the next round of a task; return its result and the past rounds that are still remembered."""
    mixed = course is Course.MIXED
    kept = [one for one in past if one.step is not None] if mixed else []
    plain = course is Course.PLAIN
    if kept:
        mix = coefficients(summary.products)
        start = combined(mix, [one.vector for one in kept])
        received = combined(mix, [one.received for one in kept])
    else:
        start, received = past[-1].vector, past[-1].received
    given, halo = np.split(received, [len(matrix.shares)])
    fixed = matrix.fixed(given, halo)
    first = matrix.sweep(np.concatenate([start, halo]), fixed, 1, plain=plain)
    vector = matrix.sweep(first, fixed, SWEEPS - 1, plain=plain)[: matrix.nodes]
    residual, step = first[: matrix.nodes] - start, vector - start
    remembered = kept[1 - SLOTS :]
    result = RoundResult(
        vector,
        step,
        float(np.abs(residual).sum()),
        float(residual.sum()),
        float(start.sum()),
        products_of([*(one.step for one in remembered if one.step is not None), step]),
    )
    return result, remembered


def layout_of_all(messages: Sequence[Message]) -> Layout:
    """Return the layout of all messages to a task, in the order of their senders."""
    ordered = sorted(messages, key=lambda message: message.sender)
    return joined([message.layout for message in ordered if message.layout is not None])
