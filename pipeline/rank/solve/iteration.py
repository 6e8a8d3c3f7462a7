"""The rounds of an iteration in many tasks, with the state of each task kept in the store.

A task reads its blocks, the files of the rounds that it remembers, and its messages; it writes one file per
round, its state:

    vector, step            of this round
    received, scales        what the messages of the round before contributed to its nodes, and the factors by
                            which it then scaled its regions
    values, masses, flows   what this round contributes to the others: from these the messages can be sent
                            again

and, once, a file with the meaning of the numbers in its messages. The facts in a state name the files of
earlier rounds that still count. Nothing is ever overwritten. So an iteration can continue from the newest
state of every task, which is in the manifest of the last finished job.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from crawlctl.pipeline.rank.graph.array_file import ArrayFile, write_arrays
from crawlctl.pipeline.rank.graph.graph_files import ROUND, ROUNDS, TASK, TELEPORT
from crawlctl.pipeline.rank.graph.stored_graph import Graph, nodes_of_tasks
from crawlctl.pipeline.rank.solve.aggregation import Incoming, cut_into_regions
from crawlctl.pipeline.rank.solve.anderson import Products
from crawlctl.pipeline.rank.solve.block_jacobi import (
    PastRound,
    RoundResult,
    add_up,
    first_round,
    next_round,
    remember,
    scales_of,
)
from crawlctl.pipeline.rank.solve.messages import decode_message, encode_message, pack_message, unpack_message
from crawlctl.pipeline.rank.solve.one_task import Matrix
from crawlctl.pipeline.rank.solve.stop_rule import StopRule
from crawlctl.pipeline.rank.solve.task_matrix import Contribution, TaskMatrix, make_task_matrix
from crawlctl.pipeline.rank.solve.warm_start import last_solution
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats
    from crawlctl.pipeline.rank.order import IterateOrder
    from crawlctl.pipeline.rank.solve.block_jacobi import Message, RoundSummary
    from crawlctl.pipeline.rank.solve.messages import PackedMessage
    from crawlctl.pipeline.store.base import Store

_INCOMING = [field.name for field in fields(Incoming)]


class StateFacts(msgspec.Struct, frozen=True):
    """The facts in the file of a state, besides its arrays."""

    task: int = msgspec.field(name="group")  # as older states call it
    teleport: int  # the index of the teleport
    round: int
    residual: float
    drift: float
    total: float
    before: float  # the residual of the round before
    gram: list[float]
    last: list[float]
    sizes: tuple[int, ...]  # the number of values for each task
    window: tuple[FileEntry, ...]  # the states of the remembered rounds, oldest first
    incoming: FileEntry | None  # the meaning of the messages; None before the first messages
    has_step: bool
    what: str = "state"


def solve_whole(store: Store, order: IterateOrder) -> Iterator[FileEntry]:
    """Solve the graph in this one task for all teleports, and yield the file of each solution."""
    (nodes,) = nodes_of_tasks(Graph(store, order.files), order)
    matrix = Matrix(nodes.blocks_to(nodes), nodes.degrees)
    for number, teleport in enumerate(order.teleports):
        found = matrix.solve(
            nodes.teleport(teleport),
            damping=order.damping,
            tolerance=order.tolerance,
            start=last_solution(store, order, nodes, number),
        )
        yield _write_solution(
            store, order, found.vector, task=0, teleport=number, rounds=found.sweeps, error=found.error
        )


def _write_solution(
    store: Store, order: IterateOrder, vector: Floats, *, task: int, teleport: int, rounds: int, error: float
) -> FileEntry:
    first, end = order.tasks[task]
    vector = np.maximum(vector, 0)  # mixing can leave negative ranks; 0 is nearer to the solution
    return write_arrays(
        store,
        {"vector": vector},
        partition=first,
        round_number=order.round,
        records=len(vector),
        facts={"what": "solution", "partitions": [first, end], "sum": float(vector.sum()), "error": error},
        counters={TELEPORT: teleport, ROUNDS: rounds},
    )


@dataclass
class TaskSolver:
    """One task of an order, for one teleport; it lives for one round."""

    store: Store
    order: IterateOrder
    number: int
    teleport: int

    def __post_init__(self) -> None:
        self._all_nodes = nodes_of_tasks(Graph(self.store, self.order.files), self.order)
        self._rule = StopRule(self.order.damping, self.order.tolerance)

    @cached_property
    def _matrix(self) -> TaskMatrix:
        own = self._all_nodes[self.number]
        shares = self.order.damping / np.maximum(own.degrees, 1) * (own.degrees > 0)
        return make_task_matrix(
            self.number,
            [own.blocks_to(other) for other in self._all_nodes],
            shares,
            own.teleport(self.order.teleports[self.teleport]),
            cut_into_regions([other.size for other in self._all_nodes]),
        )

    def start(self) -> Iterator[tuple[int, bytes]]:
        """Make the first round; yield its messages with their receivers."""
        result = first_round(self._matrix)
        facts = self._facts(result, round_number=0, before=np.inf, window=(), incoming=None)
        return self._messages(result, facts, self._write_state(result, facts, {}))

    def resume(self, state: FileEntry) -> Iterator[tuple[int, bytes]]:
        """Yield the messages of the round of a state again, with their receivers."""
        facts, file = _facts(self.store, state), ArrayFile(self.store, state)
        result = RoundResult(
            np.zeros(0),
            None,
            facts.residual,
            facts.drift,
            facts.total,
            Products(np.array(facts.gram).reshape(len(facts.last), -1), np.array(facts.last)),
            Contribution(*map(file.read, Contribution._fields)),
        )
        return self._messages(result, facts, state)

    def next_round(self, messages: Sequence[PackedMessage]) -> Iterator[tuple[int, bytes] | FileEntry]:
        """Take the messages of a round; yield those of the next, or the solution once it is good enough."""
        (state,) = (message.state for message in messages if message.state is not None)
        facts, file = _facts(self.store, state), ArrayFile(self.store, state)
        unpacked = [unpack_message(message) for message in messages]
        summary = add_up(unpacked)
        vector = file.read("vector")
        step = file.read("step") if facts.has_step else None
        if step is not None and self._rule.is_met(summary.moved, summary.total):
            yield self._write_solution(vector - step, facts, summary)
            return
        plain = summary.is_astray(facts.before, facts.round, self.order.damping)
        layout = facts.incoming or self._write_incoming(unpacked)
        incoming = _read_incoming(self.store, layout)
        scales = scales_of(incoming, summary, plain=plain)
        last = remember(self._matrix, summary, incoming, scales, vector=vector, step=step)
        past = [*self._remembered(facts, state), last]
        result, kept = next_round(self._matrix, past, summary, plain=plain)
        window = (*facts.window, state)[len(past) - len(kept) :]
        following = self._facts(
            result, round_number=facts.round + 1, before=summary.residual, window=window, incoming=layout
        )
        received = {"received": last.received, "scales": scales}
        yield from self._messages(result, following, self._write_state(result, following, received))

    def _write_solution(self, vector: Floats, facts: StateFacts, summary: RoundSummary) -> FileEntry:
        return _write_solution(
            self.store,
            self.order,
            vector,
            task=self.number,
            teleport=self.teleport,
            rounds=facts.round + 1,
            error=self._rule.error(summary.moved, summary.total),
        )

    def _remembered(self, facts: StateFacts, own: FileEntry) -> list[PastRound]:
        """Return the remembered rounds; what a round received is in the state of the round after it."""
        files = [ArrayFile(self.store, entry) for entry in (*facts.window, own)]
        regions = self._matrix.regions
        return [
            PastRound(
                file.read("vector") * after.read("scales")[regions], file.read("step"), after.read("received")
            )
            for file, after in pairwise(files)
        ]

    def _facts(
        self,
        result: RoundResult,
        *,
        round_number: int,
        before: float,
        window: tuple[FileEntry, ...],
        incoming: FileEntry | None,
    ) -> StateFacts:
        return StateFacts(
            self.number,
            self.teleport,
            round_number,
            result.residual,
            result.drift,
            result.total,
            before,
            result.products.gram.ravel().tolist(),
            result.products.last.tolist(),
            self._matrix.sizes,
            window,
            incoming,
            result.step is not None,
        )

    def _write_state(self, result: RoundResult, facts: StateFacts, received: dict[str, Floats]) -> FileEntry:
        step = {} if result.step is None else {"step": result.step}
        return write_arrays(
            self.store,
            {"vector": result.vector, **step, **received, **result.contribution._asdict()},
            partition=self.order.tasks[self.number][0],
            round_number=self.order.round,
            facts=_plain(facts),
            counters={TASK: self.number, ROUND: facts.round, TELEPORT: self.teleport},
        )

    def _write_incoming(self, messages: Sequence[Message]) -> FileEntry:
        ordered = sorted(messages, key=lambda message: message.sender)
        layouts = [message.layout for message in ordered if message.layout is not None]
        joined = map(np.concatenate, zip(*layouts, strict=True))
        return write_arrays(
            self.store,
            dict(zip(_INCOMING, joined, strict=True)),
            partition=self.order.tasks[self.number][0],
            round_number=self.order.round,
            facts={"what": "incoming"},
        )

    def _messages(
        self, result: RoundResult, facts: StateFacts, state: FileEntry
    ) -> Iterator[tuple[int, bytes]]:
        layouts = self._matrix.layouts() if facts.round == 0 else None
        for receiver, message in enumerate(result.messages(self.number, facts.sizes, layouts)):
            own = state if receiver == self.number else None
            yield receiver, encode_message(pack_message(message, facts.round, own))


def state_files(store: Store, message: bytes) -> tuple[FileEntry, ...]:
    """Return the files that a task continues from, by its message to itself; none for other messages."""
    state = decode_message(message).state
    if state is None:
        return ()
    facts = _facts(store, state)
    return (*(() if facts.incoming is None else (facts.incoming,)), *facts.window, state)


def _facts(store: Store, state: FileEntry) -> StateFacts:
    return msgspec.convert(ArrayFile(store, state).facts, StateFacts)


def _plain(facts: StateFacts) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(facts)
    # JSON has no infinity; no residual is as large as this number.
    return {name: 1e300 if value == np.inf else value for name, value in plain.items()}


def _read_incoming(store: Store, entry: FileEntry) -> Incoming:
    file = ArrayFile(store, entry)
    return Incoming(*(file.read(name) for name in _INCOMING))
