"""The part of the WebDB a task works on: read once as a whole, and then by host where that is asked for."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.select.known_hosts import KnownHosts
from crawlctl.pipeline.fetch.select.known_urls import KnownUrls
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.layout import DATA, INDEX
from crawlctl.pipeline.urls.hosts import host_ranges, key_bounds
from crawlctl.pipeline.webdb.packed import statuses
from crawlctl.pipeline.webdb.part import open_part
from crawlctl.pipeline.webdb.records import LIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from crawlctl.pipeline.fetch.select.selection import Selection
    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


class PartRows:
    """The rows of a partition in a snapshot; an empty partition has none.

    Within `own_work` single rows and hosts are read from the store, which may take its time.
    """

    def __init__(
        self,
        store: Store,
        snapshot: Snapshot,
        partition: int,
        own_work: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._own_work = own_work
        self._part = open_part(store, snapshot, partition)
        files = snapshot.files_of(WEBDB, partition)
        self.records = sum(entry.records for entry in files)
        self.name = self._part.name if self._part else WEBDB
        names = {entry.name.rpartition("/")[2]: entry.name for entry in files}
        self._rows = MapFileReader(store.open(names[DATA]), store.open(names[INDEX])) if names else None

    def blocks(self) -> Iterator[Block]:
        """Return all rows, many at a time."""
        return iter(()) if self._part is None else self._part.blocks()

    def of_host(self, host: str) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys and packed entries of a host."""
        if self._rows is not None:
            with self._own_work():
                yield from self._rows.range(*key_bounds(host.encode("ascii")))

    def get(self, key: bytes) -> bytes | None:
        """Return the packed entry of a key."""
        with self._own_work():
            return None if self._rows is None else self._rows.get(key)


class Survey:
    """What one pass over a part tells besides the selection: its URLs, its hosts, and which are large."""

    def __init__(self, rows: PartRows, large: int, known: KnownUrls | None = None) -> None:
        self.known = KnownUrls(2 * rows.records) if known is None else known
        self.large_hosts: set[str] = set()  # with at least so many URLs as `large`
        self.hosts = KnownHosts()
        self._large = large
        self._host = ""
        self._count = 0

    def read(self, rows: PartRows, selection: Selection) -> None:
        """Pass over all rows."""
        for block in rows.blocks():
            selection.add(block, rows.name)
            self._see(block)

    def look(self, rows: PartRows) -> None:
        """Pass over all rows where nothing is to be selected."""
        for block in rows.blocks():
            self._see(block)

    def _see(self, block: Block) -> None:
        self.known.add(block.keys)
        self._count_hosts(block.keys, statuses(block.values))

    def _count_hosts(self, keys: list[bytes], statuses: bytes) -> None:
        for name, start, end in host_ranges(keys):
            host = name.decode("ascii")
            if host != self._host:
                self._count, self._host = 0, host
                self.hosts.add(host)
            self._count += end - start
            self.hosts.useful(sum(statuses.count(status, start, end) for status in LIVE))
            if self._count >= self._large:
                self.large_hosts.add(host)
