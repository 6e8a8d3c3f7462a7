"""The rounds of an iteration in many tasks, with the state of each task kept in the store.

A task reads its blocks, the files of the rounds that it remembers, and its messages. It writes one file per
round, its state, with these arrays:

    vector, step    the x of this round, and its step
    received        the numbers that the messages of the round before brought for its nodes and its halo
    values, ranks   the numbers of this round for the other tasks: from them the messages can be sent again

It writes three more files, each only once, so that later rounds need not compute their content again:

    halo            in the first round: the nodes of its halo
    matrix          in the second round: its links to and from the halo, and how it computes its messages
    layout          in the third round: where it puts the numbers of the messages that it receives

The facts in a state name these files, and the states of those earlier rounds that are still needed. No file
is ever overwritten. So an iteration can continue from the newest state of every task, which the manifest of
the last finished job names.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec.structs import replace

from crawlctl.pipeline.rank.graph.array_file import ArrayFile, write_arrays
from crawlctl.pipeline.rank.graph.graph_files import ROUND, ROUNDS, TASK, TELEPORT
from crawlctl.pipeline.rank.graph.sparse_blocks import merged
from crawlctl.pipeline.rank.graph.stored_graph import Graph, TaskNodes, nodes_of_tasks
from crawlctl.pipeline.rank.solve.anderson import Products
from crawlctl.pipeline.rank.solve.block_jacobi import (
    PastRound,
    RoundResult,
    add_up,
    first_round,
    layout_of_all,
    next_round,
)
from crawlctl.pipeline.rank.solve.halo import Neighbour, choose_halo, no_halo
from crawlctl.pipeline.rank.solve.matrix_files import (
    read_halo,
    read_layout,
    read_matrix,
    write_halo,
    write_layout,
    write_matrix,
)
from crawlctl.pipeline.rank.solve.messages import decode_message, encode_message, pack_message, unpack_message
from crawlctl.pipeline.rank.solve.one_task import Matrix
from crawlctl.pipeline.rank.solve.sending import Contribution, make_sending
from crawlctl.pipeline.rank.solve.stop_rule import StopRule
from crawlctl.pipeline.rank.solve.task_matrix import make_task_matrix
from crawlctl.pipeline.rank.solve.warm_start import last_solution
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats
    from crawlctl.pipeline.rank.order import IterateOrder
    from crawlctl.pipeline.rank.solve.block_jacobi import RoundSummary
    from crawlctl.pipeline.rank.solve.halo import Halo
    from crawlctl.pipeline.rank.solve.messages import PackedMessage
    from crawlctl.pipeline.rank.solve.sending import Sending
    from crawlctl.pipeline.rank.solve.task_matrix import TaskMatrix
    from crawlctl.pipeline.store.base import Store


class StateFacts(msgspec.Struct, frozen=True):
    """The facts in the file of a state, besides its arrays."""

    task: int = msgspec.field(name="group")  # the name in older states
    teleport: int  # the index of the teleport
    round: int
    residual: float
    drift: float
    total: float
    before: float  # the residual of the round before
    gram: list[float]
    last: list[float]
    window: tuple[FileEntry, ...]  # the states of the remembered rounds, oldest first
    has_step: bool
    halo: FileEntry | None = None  # set in the first round
    matrix: FileEntry | None = None  # set from the second round on
    layout: FileEntry | None = None  # set from the third round on
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
    vector = np.maximum(vector, 0)  # mixing can make a rank negative; then 0 is nearer to the solution
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
        self._graph = Graph(self.store, self.order.files)
        self._all_nodes = nodes_of_tasks(self._graph, self.order)
        self._rule = StopRule(self.order.damping, self.order.tolerance)

    def start(self) -> Iterator[tuple[int, bytes]]:
        """Make the first round; yield its messages with their receivers."""
        matrix, sending = self._made([no_halo(self._tasks)] * self._tasks)
        last = last_solution(self.store, self.order, self._own, self.teleport)
        result = first_round(matrix, last)
        facts = self._facts(result, round_number=0, before=np.inf, halo=self._write_halo())
        yield from self._end_round(result, facts, matrix, sending)

    def resume(self, state: FileEntry) -> Iterator[tuple[int, bytes]]:
        """Yield the messages of the round of a state again, with their receivers."""
        facts, file = _facts(self.store, state), ArrayFile(self.store, state)
        products = Products(np.array(facts.gram).reshape(len(facts.last), -1), np.array(facts.last))
        result = RoundResult(np.zeros(0), None, facts.residual, facts.drift, facts.total, products)
        _, sending = self._prepared(facts)
        contribution = Contribution(*map(file.read, Contribution._fields))
        return self._messages(result, facts, sending, contribution, state)

    def next_round(self, messages: Sequence[PackedMessage]) -> Iterator[tuple[int, bytes] | FileEntry]:
        """Take the messages of a round; yield the messages of the next round, or the final solution."""
        (state,) = (message.state for message in messages if message.state is not None)
        facts, file = _facts(self.store, state), ArrayFile(self.store, state)
        unpacked = [unpack_message(message) for message in messages]
        summary = add_up(unpacked)
        vector = file.read("vector")
        step = file.read("step") if facts.has_step else None
        if step is not None and self._rule.is_met(summary.moved, summary.total):
            yield self._write_solution(vector - step, facts, summary)
            return
        course = summary.course(facts.before, facts.round, self.order.damping)
        matrix, sending = self._prepared(facts)
        layout = layout_of_all(unpacked) if facts.layout is None else read_layout(self.store, facts.layout)
        matrix = matrix.knowing(layout.in_halo)
        received = layout.received(summary.contribution, matrix.received_size)
        past = [*self._remembered(facts, state), PastRound(vector, step, received)]
        result, kept = next_round(matrix, past, summary, course)
        following = self._facts(
            result,
            round_number=facts.round + 1,
            before=summary.residual,
            window=(*facts.window, state)[len(past) - len(kept) :],
            matrix=facts.matrix,
            layout=facts.layout,
        )
        if facts.matrix is None:
            matrix, sending = self._made(_halos(self.store, messages))
            following = replace(following, matrix=write_matrix(self.store, matrix, sending, **self._where))
        elif facts.layout is None:
            following = replace(following, layout=write_layout(self.store, layout, **self._where))
        yield from self._end_round(result, following, matrix, sending, received)

    @property
    def _tasks(self) -> int:
        return len(self.order.tasks)

    @property
    def _own(self) -> TaskNodes:
        return self._all_nodes[self.number]

    @property
    def _where(self) -> dict[str, int]:
        return {"partition": self.order.tasks[self.number][0], "round_number": self.order.round}

    def _shares(self, nodes: TaskNodes) -> Floats:
        shares: Floats = self.order.damping / np.maximum(nodes.degrees, 1) * (nodes.degrees > 0)
        return shares

    def _write_halo(self) -> FileEntry:
        shares = self._shares(self._own)
        links = int(self._own.degrees.sum())
        return write_halo(
            self.store, choose_halo(self._neighbours(), shares, links, self._tasks), **self._where
        )

    def _neighbours(self) -> Iterator[Neighbour]:
        """Yield the other tasks; only the blocks of one task are in memory at a time."""
        for task, partitions in enumerate(self.order.tasks):
            if task != self.number:
                nodes = TaskNodes(self._graph, partitions)
                teleport = nodes.teleport(self.order.teleports[self.teleport])
                outgoing, incoming = merged(self._own.blocks_to(nodes)), merged(nodes.blocks_to(self._own))
                yield Neighbour(task, self._shares(nodes), teleport, nodes.degrees, incoming, outgoing)

    def _prepared(self, facts: StateFacts) -> tuple[TaskMatrix, Sending]:
        """Return the matrix that computed the round of a state, and the maker of its messages."""
        if facts.matrix is None:
            return self._made([no_halo(self._tasks)] * self._tasks)
        return read_matrix(self.store, facts.matrix, self._own.blocks_to(self._own), self._own.size)

    def _made(self, halos: Sequence[Halo]) -> tuple[TaskMatrix, Sending]:
        """Return the matrix of this task and the maker of its messages, by the halos of all tasks."""
        outgoing = [merged(self._own.blocks_to(other)) for other in self._all_nodes]
        incoming = (merged(other.blocks_to(self._own)) for other in self._all_nodes)
        matrix = make_task_matrix(
            self._own.blocks_to(self._own),
            self._shares(self._own),
            self._own.teleport(self.order.teleports[self.teleport]),
            halos[self.number],
            zip(outgoing, incoming, strict=True),
        )
        return matrix, make_sending(self.number, outgoing, [other.size for other in self._all_nodes], halos)

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
        """Return the remembered rounds; the numbers that a round received are in the state after its own."""
        files = [ArrayFile(self.store, entry) for entry in (*facts.window, own)]
        return [
            PastRound(file.read("vector"), file.read("step"), after.read("received"))
            for file, after in pairwise(files)
        ]

    def _facts(
        self,
        result: RoundResult,
        *,
        round_number: int,
        before: float,
        window: tuple[FileEntry, ...] = (),
        halo: FileEntry | None = None,
        matrix: FileEntry | None = None,
        layout: FileEntry | None = None,
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
            window,
            result.step is not None,
            halo,
            matrix,
            layout,
        )

    def _end_round(
        self,
        result: RoundResult,
        facts: StateFacts,
        matrix: TaskMatrix,
        sending: Sending,
        received: Floats | None = None,
    ) -> Iterator[tuple[int, bytes]]:
        """Write the state of a round, and yield its messages with their receivers."""
        contribution = sending.contribution(result.vector, matrix.own_shares)
        arrays = {"vector": result.vector, "step": result.step, "received": received}
        state = write_arrays(
            self.store,
            {name: array for name, array in arrays.items() if array is not None} | contribution._asdict(),
            partition=self.order.tasks[self.number][0],
            round_number=self.order.round,
            facts=_plain(facts),
            counters={TASK: self.number, ROUND: facts.round, TELEPORT: self.teleport},
        )
        return self._messages(result, facts, sending, contribution, state)

    def _messages(
        self,
        result: RoundResult,
        facts: StateFacts,
        sending: Sending,
        contribution: Contribution,
        state: FileEntry,
    ) -> Iterator[tuple[int, bytes]]:
        messages = result.messages(self.number, sending, contribution, with_layout=facts.layout is None)
        for receiver, message in enumerate(messages):
            own = state if receiver == self.number else None
            yield receiver, encode_message(pack_message(message, facts.round, halo=facts.halo, state=own))


def state_files(store: Store, message: bytes) -> tuple[FileEntry, ...]:
    """Return the files from which a task continues; they follow from its message to itself."""
    state = decode_message(message).state
    if state is None:
        return ()
    facts = _facts(store, state)
    made = (entry for entry in (facts.halo, facts.matrix, facts.layout) if entry is not None)
    return (*made, *facts.window, state)


def _halos(store: Store, messages: Sequence[PackedMessage]) -> list[Halo]:
    """Return the halos of all tasks."""
    ordered = sorted(messages, key=lambda message: message.sender)
    return [read_halo(store, message.halo) for message in ordered if message.halo is not None]


def _facts(store: Store, state: FileEntry) -> StateFacts:
    return msgspec.convert(ArrayFile(store, state).facts, StateFacts)


def _plain(facts: StateFacts) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(facts)
    # JSON has no infinity; no residual is as large as this number.
    return {name: 1e300 if value == np.inf else value for name, value in plain.items()}
