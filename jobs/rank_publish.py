"""RankPublish: turns a solution into ranks by URL, host and domain, crawl scores and priors.

    input    one line per map task: the number of a partition
    shuffle  (0, packed counts of links between hosts) and (partition + 1, manifest line)
    output   manifest lines of the files that were written

A map task publishes one partition. It is a job with a shuffle because the links between hosts are counted per
partition and solved together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.jobs.shared.ordered import OrderedJob
from crawlctl.pipeline.mrjob_light import MRStep
from crawlctl.pipeline.rank.graph.stored_graph import Graph
from crawlctl.pipeline.rank.order import PublishOrder
from crawlctl.pipeline.rank.publish.host_ranks import count_links, decode_links, encode_links, publish_hosts
from crawlctl.pipeline.rank.publish.publish import publish_partition, ranks_of
from crawlctl.pipeline.state.manifest import encode_entry
from crawlctl.pipeline.state.snapshots import load_snapshot
from crawlctl.pipeline.text.words.focus import focus_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COUNTERS = "rank"
HOSTS = 0  # the key of links between hosts; the key of the files of a partition is its number plus one


class RankPublish(OrderedJob[PublishOrder]):
    """Publishes one partition per map task, and the hosts of all partitions in one reducer."""

    ORDER = PublishOrder

    def open_graph(self) -> None:
        """Open the order, its store and the graph."""
        self.open_order()
        self.graph = Graph(self.store, self.order.graph)

    def publish_partition(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Publish a partition and count its links between hosts: (key, manifest line or counts)."""
        order, partition = self.order, int(line)
        entries = publish_partition(
            self.store,
            order.draft or load_snapshot(self.store, order.snapshot),
            self.graph,
            partition,
            solved=ranks_of(self.store, order.ranks, self.graph, partition),
            seen_from_seeds=ranks_of(self.store, order.scores, self.graph, partition),
            damping=order.damping,
            focus=focus_of(order.focus),
            round_number=order.round,
        )
        for entry in entries:
            self.increment_counter(COUNTERS, f"{entry.kind}_files", 1)
            yield partition + 1, encode_entry(entry)
        for links in count_links(self.graph, partition, order.partitions):
            yield HOSTS, encode_links(links)

    def open_for_hosts(self) -> None:
        """Open the graph; no host may link to another, and then no group of links arrives."""
        self.open_graph()
        self.has_hosts = False

    def rank_hosts(self, key: int, values: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Rank the hosts from all their links, or pass on the manifest lines of a partition."""
        if key != HOSTS:
            yield from ((None, line) for line in values)
            return
        self.has_hosts = True
        yield from self._publish_hosts(list(values))

    def rank_unlinked_hosts(self) -> Iterator[tuple[None, bytes]]:
        """Rank the hosts if no host links to another."""
        if not self.has_hosts:
            yield from self._publish_hosts([])

    def _publish_hosts(self, links: list[bytes]) -> Iterator[tuple[None, bytes]]:
        entries = publish_hosts(
            self.store,
            self.graph,
            self.order.partitions,
            [decode_links(packed) for packed in links],
            damping=self.order.damping,
            tolerance=self.order.tolerance,
            round_number=self.order.round,
        )
        yield from self.emit_files(entries)

    def steps(self) -> list[MRStep]:
        """Return the one step."""
        return [
            MRStep(
                mapper_init=self.open_graph,
                mapper=self.publish_partition,
                reducer_init=self.open_for_hosts,
                reducer=self.rank_hosts,
                reducer_final=self.rank_unlinked_hosts,
            )
        ]


if __name__ == "__main__":
    RankPublish.run()
