"""The rounds of an iteration in many tasks, with all that they need to go on kept in the store.

A task of a round reads its blocks and what it remembers, takes its messages, and writes one file a round:

    vector, step   of this round
    received, scales    what the messages of the round before gave to its nodes, and by how much it scaled
                   its regions then
    values, masses, flows    what this round tells the others, by which a round can be gone on with when the
                   messages themselves are gone

and, once, what the numbers in its messages are about. The facts in a file tell which files of earlier rounds
still count. So nothing is ever overwritten, and whoever has the newest file of every group, by the manifest
of the last job that was finished, can go on.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from crawlctl.pipeline.rank.graph.array_file import ArrayFile, write_arrays
from crawlctl.pipeline.rank.graph.stored_graph import Graph, groups_of
from crawlctl.pipeline.rank.solve.aggregation import Incoming, cut_into_regions
from crawlctl.pipeline.rank.solve.anderson import Products
from crawlctl.pipeline.rank.solve.block_jacobi import Sent, Slot, advance, begin, listen, scales_of, settle
from crawlctl.pipeline.rank.solve.messages import decode_message, encode_message, pack, unpack
from crawlctl.pipeline.rank.solve.one_task import Matrix
from crawlctl.pipeline.rank.solve.task_nodes import Given, Part, make_part
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats
    from crawlctl.pipeline.rank.graph.stored_graph import Group
    from crawlctl.pipeline.rank.order import IterateOrder
    from crawlctl.pipeline.rank.solve.block_jacobi import Message
    from crawlctl.pipeline.rank.solve.messages import Packed
    from crawlctl.pipeline.store.base import Store

SOLUTION = "solution"
STATE = "state"
_INCOMING = [field.name for field in fields(Incoming)]


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
    sizes: tuple[int, ...]  # how many of the values are for each group
    window: tuple[FileEntry, ...]  # the files of earlier rounds that are remembered, the oldest first
    incoming: FileEntry | None  # what the messages are about; None until the first have come
    has_step: bool
    what: str = STATE


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

    @cached_property
    def _part(self) -> Part:
        group, groups = self._group, self._groups
        shares = self.order.damping / np.maximum(group.degrees, 1) * (group.degrees > 0)
        return make_part(
            self.number,
            [group.blocks_to(other) for other in groups],
            shares,
            group.teleport(self.order.teleports[self.teleport]),
            cut_into_regions([other.size for other in groups], self.order.regions),
        )

    def start(self) -> Iterator[tuple[int, bytes]]:
        """Begin the iteration; yield the messages by receiver."""
        sent = begin(self._part)
        facts = self._facts(sent, round_number=0, before=np.inf, window=(), incoming=None)
        return self._messages(sent, facts, self._write_state(sent, facts, {}))

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
            Given(*map(file.read, Given._fields)),
        )
        return self._messages(sent, facts, state)

    def next_round(self, messages: Sequence[Packed]) -> Iterator[tuple[int, bytes] | FileEntry]:
        """Take the messages of a round; yield those of the next, or the solution once it is good enough."""
        (own,) = (message.state for message in messages if message.state is not None)
        facts, file = _facts(self.store, own), ArrayFile(self.store, own)
        unpacked = [unpack(message) for message in messages]
        told = listen(unpacked)
        vector = file.read("vector")
        step = file.read("step") if facts.has_step else None
        if step is not None and told.is_enough(self.order.damping, self.order.tolerance):
            error = (told.residual + abs(told.drift)) / ((1 - self.order.damping) * (told.total or 1.0))
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
        plain = told.is_astray(facts.before, facts.round, self.order.damping)
        about = facts.incoming or self._write_incoming(unpacked)
        incoming = _read_incoming(self.store, about)
        scales = scales_of(incoming, told, plain=plain)
        slot = settle(self._part, told, incoming, scales, vector=vector, step=step)
        slots = [*self._remembered(facts, own), slot]
        sent, kept = advance(self._part, slots, told, plain=plain)
        window = (*facts.window, own)[len(slots) - len(kept) :]
        following = self._facts(
            sent, round_number=facts.round + 1, before=told.residual, window=window, incoming=about
        )
        heard = {"received": slot.received, "scales": scales}
        yield from self._messages(sent, following, self._write_state(sent, following, heard))

    def _remembered(self, facts: Facts, own: FileEntry) -> list[Slot]:
        """Return what is kept of earlier rounds; what one has heard lies in the file of the one after it."""
        files = [ArrayFile(self.store, entry) for entry in (*facts.window, own)]
        regions = self._part.regions
        return [
            Slot(
                file.read("vector") * after.read("scales")[regions], file.read("step"), after.read("received")
            )
            for file, after in pairwise(files)
        ]

    def _facts(
        self,
        sent: Sent,
        *,
        round_number: int,
        before: float,
        window: tuple[FileEntry, ...],
        incoming: FileEntry | None,
    ) -> Facts:
        return Facts(
            self.number,
            self.teleport,
            round_number,
            sent.residual,
            sent.drift,
            sent.total,
            before,
            sent.products.gram.ravel().tolist(),
            sent.products.last.tolist(),
            self._part.sizes,
            window,
            incoming,
            sent.step is not None,
        )

    def _write_state(self, sent: Sent, facts: Facts, heard: dict[str, Floats]) -> FileEntry:
        step = {} if sent.step is None else {"step": sent.step}
        return write_arrays(
            self.store,
            {"vector": sent.vector, **step, **heard, **sent.given._asdict()},
            partition=self.order.groups[self.number][0],
            round_number=self.order.round,
            facts=_plain(facts),
            counters={STATE: self.number, "round": facts.round, SOLUTION: self.teleport},
        )

    def _write_incoming(self, messages: Sequence[Message]) -> FileEntry:
        ordered = sorted(messages, key=lambda message: message.sender)
        layouts = [message.layout for message in ordered if message.layout is not None]
        joined = map(np.concatenate, zip(*layouts, strict=True))
        return write_arrays(
            self.store,
            dict(zip(_INCOMING, joined, strict=True)),
            partition=self.order.groups[self.number][0],
            round_number=self.order.round,
            facts={"what": "incoming"},
        )

    def _messages(self, sent: Sent, facts: Facts, state: FileEntry) -> Iterator[tuple[int, bytes]]:
        layouts = self._part.layouts() if facts.round == 0 else None
        for receiver, message in enumerate(sent.messages(self.number, facts.sizes, layouts)):
            own = state if receiver == self.number else None
            yield receiver, encode_message(pack(message, facts.round, own))


def state_files(store: Store, message: bytes) -> tuple[FileEntry, ...]:
    """Return the files that a group goes on from, by the message it sends to itself; none by any other."""
    state = decode_message(message).state
    if state is None:
        return ()
    facts = _facts(store, state)
    return (*(() if facts.incoming is None else (facts.incoming,)), *facts.window, state)


def _facts(store: Store, state: FileEntry) -> Facts:
    return msgspec.convert(ArrayFile(store, state).facts, Facts)


def _plain(facts: Facts) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(facts)
    # JSON has no infinity; no residual is as large.
    return {name: 1e300 if value == np.inf else value for name, value in plain.items()}


def _read_incoming(store: Store, entry: FileEntry) -> Incoming:
    file = ArrayFile(store, entry)
    return Incoming(*(file.read(name) for name in _INCOMING))
