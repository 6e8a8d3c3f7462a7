"""WebDBMerger: carries the WebDB and the host table forward over a round.

Reads lines that name files of the fetch step, some a mapper. Mappers send discovered URLs to the partition of
their host and the names of outcomes and hosts to their own; the reducer of a partition merges them with the
parts of the snapshot and emits the manifest of the new ones. It is a job because of that one exchange: a link
may lead to any partition. The old WebDB does not move.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.jobs.ordered import OrderedJob
from crawlctl.pipeline.progress.task_file import Progress, ProgressFile
from crawlctl.pipeline.state.manifest import encode_entry
from crawlctl.pipeline.state.snapshots import load_snapshot
from crawlctl.pipeline.store.open import open_store
from crawlctl.pipeline.webdb.merge.shuffle import spread
from crawlctl.pipeline.webdb.merge.task import absorb, files_of_line, merge_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COUNTERS = "webdb"


class WebDBMerger(OrderedJob):
    """Sends discoveries to their partitions and merges each partition."""

    def mapper_init(self) -> None:
        """Open the store."""
        self.order = merge_order(Path(self.options.order).read_bytes())
        self.store = open_store(self.order.store)

    def mapper(self, _: None, line: bytes) -> Iterator[tuple[int, bytes]]:
        """Send what the files of a line hold to the partitions: (partition, message)."""
        yield from spread(self.store, files_of_line(line), self.order.partitions)

    def reducer_init(self) -> None:
        """Open the store and the snapshot."""
        self.mapper_init()
        self.snapshot = load_snapshot(self.store, self.order.snapshot)
        self.settings = self.order.settings()

    def reducer(self, partition: int, messages: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        """Merge a partition and emit its new files."""
        absorbed = absorb(
            self.store,
            self.snapshot,
            partition,
            messages,
            now=self.order.now,
            settings=self.settings,
            round_number=self.order.round,
        )
        for name, amount in vars(absorbed.counts).items():
            self.increment_counter(COUNTERS, name, amount)
        yield from ((None, encode_entry(entry)) for entry in absorbed.files)
        said = ProgressFile(self.order.progress, partition)
        said.write(Progress(done=1, total=1))
        said.close()


if __name__ == "__main__":
    WebDBMerger.run()
