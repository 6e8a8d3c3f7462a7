"""RankGraph: turns the links of the live documents into the blocks of a matrix.

    input      one line per map task: the number of a partition
    shuffle 1  (partition, manifest line of the nodes of a partition), to every partition
    shuffle 2  (shard, Question) and (partition, Draft), packed
    shuffle 3  (partition, Answer) and (partition, Draft), packed
    output     manifest lines of the nodes and blocks of each partition

It is a job because a link knows only the hash of its target, which may lie in any partition; graph/build.py
explains the questions and answers that cross the shuffle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.jobs.shared.ordered import OrderedJob
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.rank.graph.build import (
    Answer,
    Draft,
    Question,
    answer,
    ask,
    build,
    decode_messages,
    encode_message,
)
from crawlctl.pipeline.rank.graph.link_sources import crawl_links
from crawlctl.pipeline.rank.graph.nodes import survey
from crawlctl.pipeline.rank.order import GraphOrder
from crawlctl.pipeline.state.manifest import decode_entry, encode_entry
from crawlctl.pipeline.state.snapshots import load_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COUNTERS = "graph"


class RankGraph(OrderedJob[GraphOrder]):
    """Surveys the nodes, asks where targets lie, answers, and builds."""

    ORDER = GraphOrder

    def survey_nodes(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Write the nodes of a partition and send their file name to all: (partition, manifest line)."""
        snapshot = self.order.draft or load_snapshot(self.store, self.order.snapshot)
        entry = encode_entry(survey(self.store, snapshot, int(line), self.order.round))
        yield from ((partition, entry) for partition in range(self.order.partitions))

    def ask_for_targets(self, partition: int, entries: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Send questions to all shards and a draft to the partition itself: (shard or partition, message)."""
        nodes = {one.partition: one for one in (decode_entry(entry, "nodes") for entry in entries)}
        snapshot = self.order.draft or load_snapshot(self.store, self.order.snapshot)
        links = crawl_links(self.store, [entry for entry in snapshot.files if entry.partition == partition])
        for receiver, message in ask(self.store, partition, nodes, links, round_number=self.order.round):
            if isinstance(message, Question):
                self.increment_counter(COUNTERS, "hashes_shuffled", len(message.wanted) // 8)
            yield receiver, encode_message(message)

    def answer_questions(self, shard: int, packed: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Answer the questions to a shard; the draft of the partition of the same number passes through."""
        messages = decode_messages(packed)
        yield from ((shard, encode_message(one)) for one in messages if isinstance(one, Draft))
        questions = [one for one in messages if isinstance(one, Question)]
        for partition, message in answer(self.store, shard, questions):
            yield partition, encode_message(message)

    def build_blocks(self, partition: int, packed: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Write the blocks of a partition and emit its files."""
        messages = decode_messages(packed)
        (draft,) = (one for one in messages if isinstance(one, Draft))
        answers = [one for one in messages if isinstance(one, Answer)]
        for entry in build(self.store, partition, draft, answers, self.order.round):
            self.count_all(COUNTERS, entry.counters)
            yield None, encode_entry(entry)

    def steps(self) -> list[MRStep]:
        """Return the steps: find the nodes and ask, answer, build."""
        return [
            MRStep(
                mapper_init=self.open_order,
                mapper=self.survey_nodes,
                reducer_init=self.open_order,
                reducer=self.ask_for_targets,
            ),
            MRStep(reducer_init=self.open_order, reducer=self.answer_questions),
            MRStep(reducer_init=self.open_order, reducer=self.build_blocks),
        ]


if __name__ == "__main__":
    RankGraph.run()
