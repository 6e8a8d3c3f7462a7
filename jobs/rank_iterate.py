"""RankIterate: solves for the ranks, in one task where the graph fits its memory, else in rounds.

    input    one line per task: a StartingPoint as JSON, with the state of the task if an earlier job left one
    shuffle  (task, message): packed numbers, one message from each task to each other task per round
    output   manifest lines of the solutions, or of the states from which the next job continues

With --rounds 0 the input is one line and one task solves the whole graph. Otherwise a round is one shuffle
(rank/solve/iteration.py), and a job that has run its rounds without a solution writes its state. It is a job
because a graph may be larger than the memory of one machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.jobs.shared.ordered import OrderedJob
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.orders import decode_order
from crawlctl.pipeline.rank.graph.graph_files import ROUNDS, TELEPORT
from crawlctl.pipeline.rank.order import IterateOrder, StartingPoint
from crawlctl.pipeline.rank.solve.iteration import TaskSolver, solve_whole, state_files
from crawlctl.pipeline.rank.solve.messages import decode_message
from crawlctl.pipeline.state.manifest import FileEntry, decode_entry, encode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COUNTERS = "rank"
_DONE = b"{"  # a manifest line is JSON and begins with it; a message is a MessagePack array and never does


class RankIterate(OrderedJob[IterateOrder]):
    """Begins or continues an iteration, and runs some rounds of it."""

    ORDER = IterateOrder

    def configure_args(self) -> None:
        """Add the number of rounds, which is the number of steps."""
        super().configure_args()
        self.add_passthru_arg("--rounds", type=int, default=0, help="at least 2; 0 solves in one task")

    def solve_whole_graph(self, _: None, _line: bytes) -> Iterator[tuple[None, bytes]]:
        """Solve the whole graph in this task."""
        for entry in solve_whole(self.store, self.order):
            self.increment_counter(COUNTERS, "sweeps", entry.counters[ROUNDS])
            yield None, encode_entry(entry)

    def begin_rounds(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Send the first messages of a task, or again the messages of its last round: (task, message)."""
        start = decode_order(line, StartingPoint)
        solver = TaskSolver(self.store, self.order, start.task, start.teleport)
        yield from self._counted(solver.start() if start.state is None else solver.resume(start.state))

    def run_round(self, task: int, messages: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Run a round of a task, unless it has its solution: (task, message or manifest line)."""
        for item in self._round(task, list(messages)):
            if isinstance(item, FileEntry):
                yield task, encode_entry(item)
            else:
                yield from self._counted([item])

    def run_last_round(self, task: int, messages: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Run the last round of this job; emit the solution of a task or the files it continues from."""
        for item in self._round(task, list(messages)):
            entries = (item,) if isinstance(item, FileEntry) else state_files(self.store, item[1])
            yield from ((None, encode_entry(entry)) for entry in entries)

    def _round(self, task: int, messages: list[bytes]) -> Iterator[tuple[int, bytes] | FileEntry]:
        if messages[0].startswith(_DONE):
            yield from (decode_entry(line, "a solution") for line in messages)
            return
        packed = [decode_message(message) for message in messages]
        (state,) = (message.state for message in packed if message.state is not None)
        yield from TaskSolver(self.store, self.order, task, state.counters[TELEPORT]).next_round(packed)

    def _counted(self, messages: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        for receiver, message in messages:
            self.increment_counter(COUNTERS, "bytes_shuffled", len(message))
            yield receiver, message

    def steps(self) -> list[MRStep]:
        """Return one step that solves everything, or one step per round, at least two."""
        if not self.options.rounds:
            return [MRStep(mapper_init=self.open_order, mapper=self.solve_whole_graph)]
        first = MRStep(
            mapper_init=self.open_order,
            mapper=self.begin_rounds,
            reducer_init=self.open_order,
            reducer=self.run_round,
        )
        further = MRStep(reducer_init=self.open_order, reducer=self.run_round)
        last = MRStep(reducer_init=self.open_order, reducer=self.run_last_round)
        return [first, *[further] * (self.options.rounds - 2), last]


if __name__ == "__main__":
    RankIterate.run()
