"""RankIterate: solves for the ranks, in one task where the graph fits its memory, else in rounds.

Reads one line a task: {"group": …} to begin with, and the state of a group where a job before this one has
left it; emits the manifest of the solutions, or, after as many rounds as it was asked for, of the states to
go on from. A round is one shuffle: each group sends each other one message of packed numbers
(rank/solve/iteration.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.jobs.ordered import OrderedJob
from crawlctl.pipeline.mrjob_light import light_imports
from crawlctl.pipeline.rank.order import iterate_order, starting_point
from crawlctl.pipeline.rank.solve.iteration import SOLUTION, Worker, solve_whole, state_files
from crawlctl.pipeline.rank.solve.messages import decode_message
from crawlctl.pipeline.state.manifest import FileEntry, decode_entry, encode_entry
from crawlctl.pipeline.store.open import open_store

with light_imports():
    from mrjob.step import MRStep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COUNTERS = "rank"
_DONE = b"{"  # a line of a manifest among messages, which are arrays of MessagePack


class RankIterate(OrderedJob):
    """Begins or goes on with an iteration, and runs some rounds of it."""

    def configure_args(self) -> None:
        """Add the number of rounds, by which the steps are made."""
        super().configure_args()
        self.add_passthru_arg("--rounds", type=int, default=0, help="at least 2; 0 solves in one task")

    def open(self) -> None:
        """Open the store."""
        self.order = iterate_order(Path(self.options.order).read_bytes())
        self.store = open_store(self.order.store)

    def mapper_solve(self, _: None, _line: bytes) -> Iterator[tuple[None, bytes]]:
        """Solve everything here."""
        for entry in solve_whole(self.store, self.order):
            self.increment_counter(COUNTERS, "sweeps", entry.counters["rounds"])
            yield None, encode_entry(entry)

    def mapper_begin(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Send the first messages of a group, or those of its last round again: (group, message)."""
        start = starting_point(line)
        worker = Worker(self.store, self.order, start.group, start.teleport)
        yield from self._counted(worker.start() if start.state is None else worker.resume(start.state))

    def reducer_round(self, group: int, messages: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Run a round of a group, unless it has its solution: (group, message or line of a manifest)."""
        for item in self._round(group, list(messages)):
            if isinstance(item, FileEntry):
                yield group, encode_entry(item)
            else:
                yield from self._counted([item])

    def reducer_last(self, group: int, messages: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Run the last round of this job, and emit the solution of a group or the files to go on from."""
        for item in self._round(group, list(messages)):
            entries = (item,) if isinstance(item, FileEntry) else state_files(self.store, item[1])
            yield from ((None, encode_entry(entry)) for entry in entries)

    def _round(self, group: int, messages: list[bytes]) -> Iterator[tuple[int, bytes] | FileEntry]:
        if messages[0].startswith(_DONE):
            yield from (decode_entry(line, "a solution") for line in messages)
            return
        packed = [decode_message(message) for message in messages]
        (state,) = (message.state for message in packed if message.state is not None)
        yield from Worker(self.store, self.order, group, state.counters[SOLUTION]).next_round(packed)

    def _counted(self, messages: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        for receiver, message in messages:
            self.increment_counter(COUNTERS, "bytes_shuffled", len(message))
            yield receiver, message

    def steps(self) -> list[MRStep]:
        """Return one step that solves, or a step a round, of which there are at least two."""
        if not self.options.rounds:
            return [MRStep(mapper_init=self.open, mapper=self.mapper_solve)]
        first = MRStep(
            mapper_init=self.open,
            mapper=self.mapper_begin,
            reducer_init=self.open,
            reducer=self.reducer_round,
        )
        further = MRStep(reducer_init=self.open, reducer=self.reducer_round)
        last = MRStep(reducer_init=self.open, reducer=self.reducer_last)
        return [first, *[further] * (self.options.rounds - 2), last]


if __name__ == "__main__":
    RankIterate.run()
