"""Reads entries of the WebDB in this process, for commands that list or show parts of a crawl.

A round never reads WebDB parts in the driver: that is the work of tasks. But for a list, starting a job would
take longer than reading, on a cluster by minutes. So lists read parts here, as `crawlctl dump` does, within
these bounds: only one block is in memory; the counters of the parts say which parts to open; and unless the
user wants all, reading ends after AT_ONCE entries, and the list says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.urls.hosts import partition_of
from crawlctl.pipeline.webdb.part import open_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

    Rows = list[tuple[bytes, bytes]]  # WebDB keys and packed entries, in key order

AT_ONCE = 1_000_000  # entries; reading them takes one or two seconds
_BATCH = 1024


def _no_sign(_done: int, _total: int) -> None:
    """Show nothing."""


class WebDbScan:
    """One pass over the entries of a crawl, or of one host.

    `total` is the number of entries of the whole crawl, `read` the number of entries read so far, and `name`
    the part that is being read, for error messages. In a pass over the crawl, `sign` is called with `read`
    and `total` after each block.
    """

    def __init__(
        self,
        store: Store,
        snapshot: Snapshot,
        host: str | None = None,
        *,
        limit: int | None = None,
        sign: Callable[[int, int], None] = _no_sign,
    ) -> None:
        self._store = store
        self._snapshot = snapshot
        self._host = host
        self._limit = limit
        self._sign = sign
        self.total = sum(entry.records for entry in snapshot.files_of(WEBDB))
        self.read = 0
        self.name = WEBDB

    @property
    def left(self) -> int:
        """How many entries were not read because of the limit."""
        return self.total - self.read if self._limit is not None and self.read >= self._limit else 0

    def rows(self, has_any: Callable[[FileEntry], bool] = bool) -> Iterator[Rows]:
        """Yield the rows in batches; `has_any` says, by the counters of a part, whether it must be opened."""
        if self._host is not None:
            yield from self._of_host(self._host)
            return
        for entry in sorted(self._snapshot.files_of(WEBDB), key=lambda entry: entry.partition):
            if entry.records and has_any(entry):
                for rows in self.rows_of(entry.partition):
                    yield rows
                    if self._limit is not None and self.read >= self._limit:
                        return

    def rows_of(self, partition: int) -> Iterator[Rows]:
        """Yield the rows of a partition in batches."""
        part = open_part(self._store, self._snapshot, partition)
        if part is not None:
            self.name = part.name
            for block in part.blocks():
                yield self._counted(list(zip(block.keys, block.values, strict=True)))
                self._sign(self.read, self.total)

    def _of_host(self, host: str) -> Iterator[Rows]:
        part = open_part(self._store, self._snapshot, partition_of(host, self._snapshot.partitions))
        if part is None:
            return
        self.name = part.name
        rows: Rows = []
        for row in part.of_host(host):
            rows.append(row)
            if len(rows) == _BATCH:
                yield self._counted(rows)
                rows = []
        yield self._counted(rows)

    def _counted(self, rows: Rows) -> Rows:
        self.read += len(rows)
        return rows
