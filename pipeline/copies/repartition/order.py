"""The order of the tasks that copy a crawl into another number of partitions."""

from __future__ import annotations

from typing import ClassVar

from crawlctl.pipeline.orders import StoreOrder


class CopyOrder(StoreOrder, frozen=True, kw_only=True):
    """Which snapshot of the store is copied where; each input line is the number of a new partition."""

    command: ClassVar[str] = "crawlctl copy"

    destination: str  # the URI of the store that is written
    snapshot: int
    partitions: int  # of the copy
    shards: int  # of the dictionary
    memory: int  # bytes that one task may use
