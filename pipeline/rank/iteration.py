"""The rounds of an iteration in many tasks, with all that they need to go on kept in the store.

A task of a round reads its blocks and what it remembers, takes its messages, and writes one file a round:

    vector, step   of this round
    received       what the messages of the round before gave to its nodes
    values         what this round gives to the nodes of others, by which a round can be gone on with when the
                   messages themselves are gone

The facts in it tell which files of earlier rounds still count. So nothing is ever overwritten, and whoever
has the newest file of every group, by the manifest of the last job that was finished, can go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from crawlctl.pipeline.rank.arrays import ArrayFile, write_arrays
from crawlctl.pipeline.rank.blocks import Product
from crawlctl.pipeline.rank.graph import Graph, groups_of
from crawlctl.pipeline.rank.jacobi import Message, Part, Sent, Slot, advance, begin, is_worse, listen
from crawlctl.pipeline.rank.mixing import Products
from crawlctl.pipeline.rank.solve import Matrix
from crawlctl.pipeline.store.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.rank.blocks import Floats
    from crawlctl.pipeline.rank.graph import Group
    from crawlctl.pipeline.rank.orders import IterateOrder
    from crawlctl.pipeline.store.base import Store

SOLUTION = "solution"
STATE = "state"


class Packed(msgspec.Struct, frozen=True, array_like=True):
    """A message of a round as it crosses the shuffle; to itself a group sends where its state is."""

    sender: int
    round: int
    residual: float
    drift: float
    total: float
    gram: bytes
    last: bytes
    values: bytes
    state: FileEntry | None = None


class Facts(msgspec.Struct, frozen=True):
    """What a file of a round tells besides its arrays."""

    group: int
    teleport: int
    round: int
    residual: float
    drift: float
    total: float
    before: float  # the residual of the round before
    gram: list[float]
    last: list[float]
    window: tuple[FileEntry, ...]  # the files of earlier rounds that are remembered, the oldest first
    has_step: bool
    what: str = STATE


encode_message = msgspec.msgpack.Encoder().encode
decode_message = msgspec.msgpack.Decoder(Packed).decode


def solve_whole(store: Store, order: IterateOrder) -> Iterator[FileEntry]:
    """Solve the graph in this task, for one teleport after the other, and yield the file of each solution."""
    (group,) = groups_of(Graph(store, order.files), order)
    matrix = Matrix(group.blocks_to(group), group.degrees)
    for number, teleport in enumerate(order.teleports):
        found = matrix.solve(group.teleport(teleport), damping=order.damping, tolerance=order.tolerance)
        yield _write_solution(
            store, order, found.vector, group=0, teleport=number, rounds=found.sweeps, error=found.error
        )


def _write_solution(
    store: Store, order: IterateOrder, vector: Floats, *, group: int, teleport: int, rounds: int, error: float
) -> FileEntry:
    first, last = order.groups[group]
    vector = np.maximum(vector, 0)  # where mixing has left less than nothing, 0 is nearer to the truth
    return write_arrays(
        store,
        {"vector": vector},
        partition=first,
        round_number=order.round,
        records=len(vector),
        facts={"what": SOLUTION, "partitions": [first, last], "sum": float(vector.sum()), "error": error},
        counters={"solution": teleport, "rounds": rounds},
    )


@dataclass
class Worker:
    """One group of an order at work."""

    store: Store
    order: IterateOrder
    number: int
    teleport: int

    def __post_init__(self) -> None:
        self._groups = groups_of(Graph(self.store, self.order.files), self.order)
        self._group: Group = self._groups[self.number]

    def start(self) -> Iterator[tuple[int, bytes]]:
        """Begin the iteration; yield the messages by receiver."""
        return self._send(begin(self._part()), round_number=0, before=np.inf, received=None, window=())

    def resume(self, state: FileEntry) -> Iterator[tuple[int, bytes]]:
        """Send the messages of the last round again; yield them by receiver."""
        facts, file = _facts(self.store, state), ArrayFile(self.store, state)
        sent = Sent(
            np.zeros(0),
            None,
            facts.residual,
            facts.drift,
            facts.total,
            Products(np.array(facts.gram).reshape(len(facts.last), -1), np.array(facts.last)),
            file.read("values"),
        )
        return self._messages(sent, facts.round, state)

    def next_round(self, messages: Sequence[Packed]) -> Iterator[tuple[int, bytes] | FileEntry]:
        """Take the messages of a round; yield those of the next, or the solution once it is good enough."""
        (own,) = (message.state for message in messages if message.state is not None)
        facts, file = _facts(self.store, own), ArrayFile(self.store, own)
        told = listen(
            [_unpacked(message) for message in messages],
            {number: self._group.rows_from(other) for number, other in enumerate(self._groups)},
            self._group.size,
        )
        vector = file.read("vector")
        step = file.read("step") if facts.has_step else None
        if step is not None and told.is_enough(self.order.damping, self.order.tolerance):
            error = (told.residual + abs(told.drift)) / ((1 - self.order.damping) * told.total)
            yield _write_solution(
                self.store,
                self.order,
                vector - step,
                group=self.number,
                teleport=self.teleport,
                rounds=facts.round + 1,
                error=error,
            )
            return
        slots = [*self._remembered(facts, own), Slot(vector, step, told.received)]
        mixing = not is_worse(told.residual, facts.before)
        sent, kept = advance(self._part(), slots, told, mixing=mixing)
        window = (*facts.window, own)[len(slots) - len(kept) :]
        yield from self._send(
            sent,
            round_number=facts.round + 1,
            before=told.residual,
            received=told.received,
            window=window,
        )

    def _remembered(self, facts: Facts, own: FileEntry) -> list[Slot]:
        """Return what is kept of earlier rounds; what one received lies in the file of the one after it."""
        files = [ArrayFile(self.store, entry) for entry in (*facts.window, own)]
        return [
            Slot(file.read("vector"), file.read("step"), after.read("received"))
            for file, after in pairwise(files)
        ]

    def _boundary(self) -> dict[int, slice]:
        """Return where the values for the nodes of each group stand among those for all."""
        boundary, at = {}, 0
        for number, other in enumerate(self._groups):
            size = 0 if number == self.number else self._group.count_rows_of(other)
            boundary[number] = slice(at, at + size)
            at += size
        return boundary

    def _part(self) -> Part:
        group, boundary = self._group, self._boundary()
        others = []
        for number, other in enumerate(self._groups):
            at = boundary[number].start
            for block in group.blocks_to(other) if number != self.number else ():
                others.append(block._replace(rows=np.arange(at, at + len(block.rows))))
                at += len(block.rows)
        shares = self.order.damping / np.maximum(group.degrees, 1) * (group.degrees > 0)
        teleport = group.teleport(self.order.teleports[self.teleport])
        return Part(shares, teleport, Product(group.blocks_to(group)), Product(others), boundary)

    def _send(
        self,
        sent: Sent,
        *,
        round_number: int,
        before: float,
        received: Floats | None,
        window: tuple[FileEntry, ...],
    ) -> Iterator[tuple[int, bytes]]:
        facts = Facts(
            self.number,
            self.teleport,
            round_number,
            sent.residual,
            sent.drift,
            sent.total,
            before,
            sent.products.gram.ravel().tolist(),
            sent.products.last.tolist(),
            window,
            sent.step is not None,
        )
        empty = np.zeros(0)
        state = write_arrays(
            self.store,
            {
                "vector": sent.vector,
                "step": empty if sent.step is None else sent.step,
                "received": empty if received is None else received,
                "values": sent.values,
            },
            partition=self.order.groups[self.number][0],
            round_number=self.order.round,
            facts=_plain(facts),
            counters={"state": self.number, "round": round_number, "solution": self.teleport},
        )
        return self._messages(sent, round_number, state)

    def _messages(self, sent: Sent, round_number: int, state: FileEntry) -> Iterator[tuple[int, bytes]]:
        for receiver, message in sent.messages(self._boundary(), self.number).items():
            own = state if receiver == self.number else None
            yield receiver, encode_message(_packed(message, round_number, own))


def state_files(store: Store, message: bytes) -> tuple[FileEntry, ...]:
    """Return the files that a group goes on from, by the message it sends to itself; none by any other."""
    state = decode_message(message).state
    return () if state is None else (*_facts(store, state).window, state)


def _facts(store: Store, state: FileEntry) -> Facts:
    return msgspec.convert(ArrayFile(store, state).facts, Facts)


def _plain(facts: Facts) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(facts)
    # JSON has no infinity; no residual is as large.
    return {name: 1e300 if value == np.inf else value for name, value in plain.items()}


def _packed(message: Message, round_number: int, state: FileEntry | None) -> Packed:
    return Packed(
        message.sender,
        round_number,
        message.residual,
        message.drift,
        message.total,
        message.products.gram.astype("<f8").tobytes(),
        message.products.last.astype("<f8").tobytes(),
        message.values.astype("<f8").tobytes(),
        state,
    )


def _unpacked(message: Packed) -> Message:
    last = np.frombuffer(message.last, "<f8")
    gram = np.frombuffer(message.gram, "<f8").reshape(len(last), -1) if len(last) else np.zeros((0, 0))
    values = np.frombuffer(message.values, "<f8")
    return Message(
        message.sender, message.residual, message.drift, message.total, Products(gram, last), values
    )
