"""The order of an import task: one input line, which names some archives."""

from __future__ import annotations

from typing import ClassVar

from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.orders import TaskOrder


class ImportOrder(TaskOrder, frozen=True, kw_only=True):
    """The archives of one task, and a fetch order of the same round, whose partition means nothing here."""

    command: ClassVar[str] = "crawlctl import-warc"

    number: int  # of the task
    archives: tuple[str, ...]
    fetch: FetchOrder
