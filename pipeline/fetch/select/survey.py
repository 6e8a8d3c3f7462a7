"""Finds the URLs to fetch, the URLs and hosts that the crawl knows, and large hosts.

With the extract of the part (webdb/extract) only the rows of the selected URLs are read. Without it, and for
a selection of many URLs, the part is read once from end to end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.select.known_hosts import KnownHosts
from crawlctl.pipeline.fetch.select.known_urls import KnownUrls
from crawlctl.pipeline.urls.hosts import host_ranges
from crawlctl.pipeline.webdb.extract.part_extract import ROWS_PER_LOOK_UP, KnownKeys, extract_of
from crawlctl.pipeline.webdb.packed import statuses
from crawlctl.pipeline.webdb.records import LIVE

if TYPE_CHECKING:
    from crawlctl.pipeline.fetch.select.known_urls import Known
    from crawlctl.pipeline.fetch.select.selection import Selection
    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.webdb.extract.part_extract import PartExtract
    from crawlctl.pipeline.webdb.part import PartRows


class Survey:
    """The URLs, hosts and large hosts of a part, collected in the same pass as the selection."""

    def __init__(self, rows: PartRows, large: int, known: Known | None = None) -> None:
        self.known: Known = KnownUrls(2 * rows.records) if known is None else known
        self.extract: PartExtract | None = None  # of the part, if there is one and `find` was called
        self.large_hosts: set[str] = set()  # hosts with at least `large` URLs
        self.hosts = KnownHosts()
        self._large = large
        self._host = ""
        self._count = 0

    def find(self, rows: PartRows, selection: Selection) -> None:
        """Find what `read` finds, with the extract of the part if there is one."""
        self.extract = extract = extract_of(rows.part)
        if extract is None:
            self.read(rows, selection)
            return
        self.known = KnownKeys(extract)
        self._count_all(extract)
        if selection.limit * ROWS_PER_LOOK_UP < rows.records:
            selection.find(extract)
        else:
            for block in rows.blocks():
                selection.add(block, rows.name)

    def _count_all(self, extract: PartExtract) -> None:
        for name, urls, live in extract.hosts():
            host = name.decode("ascii")
            self.hosts.add(host)
            self.hosts.useful(live)
            if urls >= self._large:
                self.large_hosts.add(host)

    def read(self, rows: PartRows, selection: Selection | None = None) -> None:
        """Read all rows once; pass them to `selection` too, if one is given."""
        for block in rows.blocks():
            if selection is not None:
                selection.add(block, rows.name)
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
