"""RankGraph: turns the links of the live documents into the blocks of a matrix.

Reads one line a task, the number of a partition, and emits the manifest of the nodes and blocks of each. It
is a job because a link knows its target by a hash alone, which may lie in any partition: see graph/build.py
for what is asked and answered across the shuffle.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.jobs.ordered import OrderedJob
from crawlctl.pipeline.mrjob_light import light_imports
from crawlctl.pipeline.rank.graph.build import Answer, Draft, Question, answer, ask, build, decode_letters
from crawlctl.pipeline.rank.graph.build import encode_letter as encode
from crawlctl.pipeline.rank.graph.nodes import survey
from crawlctl.pipeline.rank.order import graph_order
from crawlctl.pipeline.state.manifest import decode_entry, encode_entry
from crawlctl.pipeline.state.snapshots import load_snapshot
from crawlctl.pipeline.store.open import open_store

with light_imports():
    from mrjob.step import MRStep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COUNTERS = "graph"


class RankGraph(OrderedJob):
    """Surveys the nodes, asks where targets lie, answers, and builds."""

    def open(self) -> None:
        """Open the store."""
        self.order = graph_order(Path(self.options.order).read_bytes())
        self.store = open_store(self.order.store)

    def mapper_survey(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Write the nodes of a partition and let all partitions know: (partition, line of a manifest)."""
        snapshot = load_snapshot(self.store, self.order.snapshot)
        entry = encode_entry(survey(self.store, snapshot, int(line), self.order.round))
        yield from ((partition, entry) for partition in range(self.order.partitions))

    def reducer_ask(self, partition: int, entries: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Send questions to all shards and a draft to the partition itself: (shard or partition, letter)."""
        nodes = {one.partition: one for one in (decode_entry(entry, "nodes") for entry in entries)}
        snapshot = load_snapshot(self.store, self.order.snapshot)
        links = self.order.link_source(self.store, snapshot, partition)
        letters = ask(
            self.store,
            partition,
            nodes,
            links,
            round_number=self.order.round,
            self_links=self.order.self_links,
        )
        for receiver, letter in letters:
            if isinstance(letter, Question):
                self.increment_counter(COUNTERS, "hashes_shuffled", len(letter.wanted) // 8)
            yield receiver, encode(letter)

    def reducer_answer(self, shard: int, messages: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Answer the questions to a shard and hand the draft of the partition of its number on."""
        letters = decode_letters(messages)
        yield from ((shard, encode(one)) for one in letters if isinstance(one, Draft))
        questions = [one for one in letters if isinstance(one, Question)]
        for partition, letter in answer(self.store, shard, questions):
            yield partition, encode(letter)

    def reducer_build(self, partition: int, messages: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Write the blocks of a partition and emit its files."""
        letters = decode_letters(messages)
        (draft,) = (one for one in letters if isinstance(one, Draft))
        answers = [one for one in letters if isinstance(one, Answer)]
        for entry in build(self.store, partition, draft, answers, self.order.round):
            for name, amount in entry.counters.items():
                self.increment_counter(COUNTERS, name, amount)
            yield None, encode_entry(entry)

    def steps(self) -> list[MRStep]:
        """Return the steps; each opens the store anew, in whatever process it runs."""
        return [
            MRStep(
                mapper_init=self.open,
                mapper=self.mapper_survey,
                reducer_init=self.open,
                reducer=self.reducer_ask,
            ),
            MRStep(reducer_init=self.open, reducer=self.reducer_answer),
            MRStep(reducer_init=self.open, reducer=self.reducer_build),
        ]


if __name__ == "__main__":
    RankGraph.run()
