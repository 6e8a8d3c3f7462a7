"""The order of an import task: one input line, which names some archives."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.orders import TaskOrder


class ReplayWants(TaskOrder, frozen=True, kw_only=True):
    """Which facts about its pages a replay of the crawl's own archive keeps."""

    links: bool = False  # the URLs that pages link to
    documents: bool = False  # the documents of live pages that no file of the index has
    entries: bool = False  # the outcomes of pages that the WebDB does not know
    # Hosts of which the WebDB has lost seeds, and how many.
    seeds: dict[str, int] = msgspec.field(default_factory=dict)


class ImportOrder(TaskOrder, frozen=True, kw_only=True):
    """The archives of one task, and a fetch order of the same round, whose partition means nothing here."""

    command: ClassVar[str] = "crawlctl import-warc"

    number: int  # the number of the task
    archives: tuple[str, ...]
    fetch: FetchOrder
    replay: ReplayWants | None = None  # None: the archives come from elsewhere
    # The bytes of each archive by its name, as in the snapshot; nothing is known of archives from elsewhere.
    sizes: dict[str, int] = msgspec.field(default_factory=dict)
