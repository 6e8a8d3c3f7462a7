"""RankPublish: turns a solution into what others use: ranks by URL, host and domain, scores, priors.

Reads one line a task, the number of a partition, and emits the manifest of what it wrote. Partitions publish
by themselves; it is a job with a shuffle because the links between hosts are counted by partition and solved
together.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.jobs.ordered import OrderedJob
from crawlctl.pipeline.rank.graph.stored_graph import Graph
from crawlctl.pipeline.rank.order import publish_order
from crawlctl.pipeline.rank.publish.host_ranks import count_links, decode_links, encode_links, publish_hosts
from crawlctl.pipeline.rank.publish.publish import publish_partition, ranks_of
from crawlctl.pipeline.state.manifest import encode_entry
from crawlctl.pipeline.state.snapshots import load_snapshot
from crawlctl.pipeline.store.open import open_store
from crawlctl.pipeline.text.words.focus import focus_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COUNTERS = "rank"
HOSTS = 0  # the key of links between hosts; that of the files of a partition is one more than its number


class RankPublish(OrderedJob):
    """Publishes each partition, and the hosts of all."""

    def mapper_init(self) -> None:
        """Open the store."""
        self.order = publish_order(Path(self.options.order).read_bytes())
        self.store = open_store(self.order.store)
        self.graph = Graph(self.store, self.order.graph)

    def mapper(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Publish a partition and count its links between hosts: (key, line of a manifest or counts)."""
        order, partition = self.order, int(line)
        entries = publish_partition(
            self.store,
            load_snapshot(self.store, order.snapshot),
            self.graph,
            partition,
            ranks=ranks_of(self.store, order.ranks, self.graph, partition),
            scores=ranks_of(self.store, order.scores, self.graph, partition),
            damping=order.damping,
            focus=focus_of(order.focus),
            round_number=order.round,
        )
        for entry in entries:
            self.increment_counter(COUNTERS, f"{entry.kind}_files", 1)
            yield partition + 1, encode_entry(entry)
        for links in count_links(self.graph, partition, order.partitions):
            yield HOSTS, encode_links(links)

    def reducer_init(self) -> None:
        """Open the store; there may be no link between hosts at all, and so no group of them."""
        self.mapper_init()
        self.has_hosts = False

    def reducer(self, key: int, values: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Rank the hosts, or emit the files of a partition."""
        if key != HOSTS:
            yield from ((None, line) for line in values)
            return
        self.has_hosts = True
        yield from self._publish_hosts(list(values))

    def reducer_final(self) -> Iterator[tuple[None, bytes]]:
        """Rank the hosts where none links to another page at all."""
        if not self.has_hosts:
            yield from self._publish_hosts([])

    def _publish_hosts(self, links: list[bytes]) -> Iterator[tuple[None, bytes]]:
        entries = publish_hosts(
            self.store,
            self.graph,
            self.order.partitions,
            [decode_links(one) for one in links],
            damping=self.order.damping,
            tolerance=self.order.tolerance,
            round_number=self.order.round,
        )
        yield from ((None, encode_entry(entry)) for entry in entries)


if __name__ == "__main__":
    RankPublish.run()
