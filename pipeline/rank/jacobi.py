"""PageRank in many tasks: block Jacobi with mixing, one message a round between each two parts of the nodes.

A part holds the links among its own nodes and those that leave it. In a round it takes what the others gave
it as fixed, makes a few sweeps over its own links, and sends on what its nodes now give to those of the
others. With that goes its share of the products that mixing needs. All of this is linear: what a mixed vector
gives to others is the mix of what the vectors gave, so each part mixes what it received, and no further
message is needed.

    part p, round r      y, b      the mixed vector, and what others give to it, teleport included
                         x         after SWEEPS times x ← b + own links(x), beginning with y
                         x − y     the step; the first sweep alone gives the true residual of y
                         messages  residual and sum of y, products of the last steps, other links(x)

The residuals of all parts bound the error of y as solve.py says. Where it has doubled since the round before,
all parts drop what they remember and go on from x instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.rank.mixing import SLOTS, WORSE, Products, coefficients, combined, products_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlctl.pipeline.rank.blocks import Floats, Numbers, Product

SWEEPS = 5


@dataclass(frozen=True)
class Part:
    """The nodes of one task: how much of its rank each gives to each link, and where that goes.

    `others` leads to a vector of the nodes of other parts that are linked from here, part by part.
    """

    shares: Floats  # damping / links, 0 without links
    teleport: Floats
    own: Product
    others: Product
    boundary: Mapping[int, slice]  # of that vector, by the part the nodes belong to


@dataclass(frozen=True)
class Slot:
    """What a part remembers of a round: its vector x, the step x − y, and what the others' x gave to it."""

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
    values: Floats  # for the nodes of the receiver that the sender links to


@dataclass(frozen=True)
class Told:
    """What all messages of a round say together; every part comes to the same numbers."""

    residual: float
    drift: float
    total: float
    products: Products
    received: Floats

    def is_enough(self, damping: float, tolerance: float) -> bool:
        """Whether y/‖y‖₁ is known to the tolerance."""
        return self.residual + abs(self.drift) <= (1 - damping) * tolerance * self.total


@dataclass(frozen=True)
class Sent:
    """The end of a round in a part: its new vector and step, and what the messages are made of."""

    vector: Floats
    step: Floats | None
    residual: float
    drift: float
    total: float
    products: Products
    values: Floats  # for all other parts

    def messages(self, boundary: Mapping[int, slice], sender: int) -> dict[int, Message]:
        """Return the messages by receiver; the boundary is that of the part."""
        return {
            receiver: Message(
                sender, self.residual, self.drift, self.total, self.products, self.values[place]
            )
            for receiver, place in boundary.items()
        }


def begin(part: Part) -> Sent:
    """Return the first round of a part, in which nobody has heard of the others yet."""
    vector = _sweep(part, part.teleport, part.teleport, SWEEPS)
    nothing = Products(np.zeros((0, 0)), np.zeros(0))
    return Sent(vector, None, np.inf, 0.0, 1.0, nothing, _given(part, vector))


def listen(messages: Sequence[Message], places: Mapping[int, Numbers], nodes: int) -> Told:
    """Add up the messages of a round; `places` are the nodes that the values of each sender are for."""
    ordered = sorted(messages, key=lambda message: message.sender)
    received = np.zeros(nodes)
    for message in ordered:
        if len(message.values):
            np.add.at(received, places[message.sender], message.values)  # a node may be named twice
    products = ordered[0].products
    for message in ordered[1:]:
        products = products + message.products
    # Always in the same order, so that every part takes the same decisions.
    residual = sum(message.residual for message in ordered)
    drift = sum(message.drift for message in ordered)
    total = sum(message.total for message in ordered)
    return Told(residual, drift, total, products, received)


def advance(part: Part, slots: Sequence[Slot], told: Told, *, mixing: bool) -> tuple[Sent, list[Slot]]:
    """Return the next round of a part and what it still remembers of those before."""
    kept = [slot for slot in slots if slot.step is not None] if mixing else []
    if kept:
        mix = coefficients(told.products)
        start = combined(mix, [slot.vector for slot in kept])
        received = combined(mix, [slot.received for slot in kept])
    else:
        start, received = slots[-1].vector, slots[-1].received
    fixed = part.teleport + received
    first = _sweep(part, start, fixed, 1)
    vector = _sweep(part, first, fixed, SWEEPS - 1)
    step = vector - start
    remembered = kept[1 - SLOTS :]
    sent = Sent(
        vector,
        step,
        float(np.abs(first - start).sum()),
        float((first - start).sum()),
        float(start.sum()),
        products_of([*(slot.step for slot in remembered if slot.step is not None), step]),
        _given(part, vector),
    )
    return sent, remembered


def is_worse(residual: float, before: float) -> bool:
    """Whether mixing has led astray."""
    return residual > WORSE * before


def _sweep(part: Part, vector: Floats, fixed: Floats, times: int) -> Floats:
    for _ in range(times):
        following = fixed.copy()
        part.own.add_to(following, part.shares * vector)
        vector = following
    return vector


def _given(part: Part, vector: Floats) -> Floats:
    values = np.zeros(max((place.stop for place in part.boundary.values()), default=0))
    part.others.add_to(values, part.shares * vector)
    return values
