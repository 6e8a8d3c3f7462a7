"""What is due in a partition: URLs, counted at the speed of reading, and sitemaps of hosts.

No entry is decoded to count URLs. Behind the status an entry holds the time it is due (records.py). msgpack
writes the head byte of an integer so that longer ones sort behind shorter ones, and its digits from the
greatest on: as bytes the times sort like the numbers, and one comparison tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.webdb.host_table import host_rows
from crawlctl.pipeline.webdb.part import open_part
from crawlctl.pipeline.webdb.records import STATUS_BYTE, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.config.settings import SitemapSettings
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_LONGEST = 9  # bytes of an integer
_DUE = slice(STATUS_BYTE + 1, STATUS_BYTE + 1 + _LONGEST)


def due_among(values: Sequence[bytes], now: int) -> int:
    """Return how many of the packed entries are due."""
    # What follows the number in the slice must not make an entry due at this very second a later one.
    mark = encode(now + 1)
    return sum(value[_DUE] < mark for value in values)


def count_due(store: Store, snapshot: Snapshot, partition: int, now: int) -> int:
    """Return how many URLs of a partition are due."""
    part = open_part(store, snapshot, partition)
    return 0 if part is None else sum(due_among(block.values, now) for block in part.blocks())


def has_due_sitemaps(
    store: Store, snapshot: Snapshot, partition: int, settings: SitemapSettings, now: float
) -> bool:
    """Tell whether a host of a partition has sitemaps that are due."""
    return any(state.sitemaps_due(now, settings) for _, state in host_rows(store, snapshot, partition))
