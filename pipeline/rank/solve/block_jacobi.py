"""PageRank in many tasks: block Jacobi with mixing, one message a round between each two parts of the nodes.

A part holds the links among its own nodes and those that leave it. In a round it takes what the others gave
it as fixed, makes a few sweeps over its own links, and sends on what its nodes now give to those of the
others. With that goes its share of the products that mixing needs, and what its regions hold and pass on. All
of this is linear: what a mixed or scaled vector gives to others is the mix of what the vectors gave, so each
part does the same to what it received, and no further message is needed.

    part p, round r      y, b      the mixed vector, and what others give to it, teleport included
                         x         after SWEEPS times x ← b + own links(x), beginning with y
                         x − y     the step; the first sweep alone gives the true residual of y
                         messages  residual and sum of y, products of the last steps, masses and flows of
                                   regions, other links(x) by region
           round r + 1   z         x with every region scaled; y is a mix of the last z

The residuals of all parts bound the error of y as solve.py says.

Mixing and scaling make most rounds worth several, but nothing proves that they always do. A plain round, that
goes on from x as it is, takes the residual down by the damping d at least: all that is left of it has passed
a link. So where the residual has doubled since the round before, or is far from the dʳ of r plain rounds, all
parts drop what they remember and make a plain one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.rank.solve.anderson import SLOTS, WORSE, Products, coefficients, combined, products_of
from crawlctl.pipeline.rank.solve.task_nodes import Given

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats
    from crawlctl.pipeline.rank.solve.aggregation import Incoming
    from crawlctl.pipeline.rank.solve.task_nodes import Layout, Part

SWEEPS = 5
FAR = 10.0  # times the residual that so many plain rounds would have left


@dataclass(frozen=True)
class Slot:
    """What a part remembers of a round: z, the step x − y, and what the others' z gave to it."""

    vector: Floats
    step: Floats | None  # None where there was no y to begin with
    received: Floats


@dataclass(frozen=True)
class Message:
    """What a part tells another one after a round."""

    sender: int
    residual: float  # of the sender's y, in L1
    drift: float  # the sum of that residual
    total: float  # the sum of y
    products: Products
    given: Given  # values for the receiver alone
    layout: Layout | None = None  # in the first round


@dataclass(frozen=True)
class Told:
    """What all messages of a round say together; but for the values every part comes to the same numbers."""

    residual: float
    drift: float
    total: float
    products: Products
    given: Given  # of all senders, one after the other

    def is_enough(self, damping: float, tolerance: float) -> bool:
        """Whether y/‖y‖₁ is known to the tolerance."""
        return self.residual + abs(self.drift) <= (1 - damping) * tolerance * self.total

    def is_astray(self, before: float, round_number: int, damping: float) -> bool:
        """Whether mixing or scaling has failed to lead to a y in this round, by the residual before."""
        if round_number == 0:
            return False  # nobody had a y yet
        return self.residual > min(WORSE * before, FAR * damping**round_number)


@dataclass(frozen=True)
class Sent:
    """The end of a round in a part: its new vector and step, and what the messages are made of."""

    vector: Floats
    step: Floats | None
    residual: float
    drift: float
    total: float
    products: Products
    given: Given  # values for all other parts

    def messages(
        self, sender: int, sizes: Sequence[int], layouts: Sequence[Layout] | None = None
    ) -> list[Message]:
        """Return the message for each part, by how many values are for each."""
        found, at = [], 0
        for receiver, size in enumerate(sizes):
            given = self.given._replace(values=self.given.values[at : at + size])
            layout = None if layouts is None else layouts[receiver]
            found.append(Message(sender, self.residual, self.drift, self.total, self.products, given, layout))
            at += size
        return found


def begin(part: Part) -> Sent:
    """Return the first round of a part, in which nobody has heard of the others yet."""
    vector = part.sweep(part.teleport, part.teleport, SWEEPS)
    nothing = Products(np.zeros((0, 0)), np.zeros(0))
    return Sent(vector, None, np.inf, 0.0, 1.0, nothing, part.given(vector))


def listen(messages: Sequence[Message]) -> Told:
    """Add up the messages of a round."""
    # Always in the same order, so that every part takes the same decisions.
    ordered = sorted(messages, key=lambda message: message.sender)
    products = ordered[0].products
    for message in ordered[1:]:
        products = products + message.products
    return Told(
        sum(message.residual for message in ordered),
        sum(message.drift for message in ordered),
        sum(message.total for message in ordered),
        products,
        Given(*map(np.concatenate, zip(*(message.given for message in ordered), strict=True))),
    )


def scales_of(incoming: Incoming, told: Told, *, plain: bool) -> Floats:
    """Return by how much to scale each region after a round."""
    masses, flows = told.given.masses, told.given.flows
    return np.ones(len(masses)) if plain else incoming.scales(masses, flows)


def settle(
    part: Part, told: Told, incoming: Incoming, scales: Floats, *, vector: Floats, step: Floats | None
) -> Slot:
    """Return what is remembered of a round, once all is told of it."""
    received = incoming.received(told.given.values, scales, len(vector))
    return Slot(vector * scales[part.regions], step, received)


def advance(part: Part, slots: Sequence[Slot], told: Told, *, plain: bool) -> tuple[Sent, list[Slot]]:
    """Return the next round of a part and what it still remembers of those before."""
    kept = [] if plain else [slot for slot in slots if slot.step is not None]
    if kept:
        mix = coefficients(told.products)
        start = combined(mix, [slot.vector for slot in kept])
        received = combined(mix, [slot.received for slot in kept])
    else:
        start, received = slots[-1].vector, slots[-1].received
    fixed = part.teleport + received
    first = part.sweep(start, fixed, 1)
    vector = part.sweep(first, fixed, SWEEPS - 1)
    step = vector - start
    remembered = kept[1 - SLOTS :]
    sent = Sent(
        vector,
        step,
        float(np.abs(first - start).sum()),
        float((first - start).sum()),
        float(start.sum()),
        products_of([*(slot.step for slot in remembered if slot.step is not None), step]),
        part.given(vector),
    )
    return sent, remembered
