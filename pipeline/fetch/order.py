"""The order of a fetch task: one line of JSON, the only input of the task."""

from __future__ import annotations

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.orders import StoreOrder


class FetchOrder(StoreOrder, frozen=True, kw_only=True):
    """What to fetch of one partition in one round, and within which limits."""

    snapshot: int
    round: int
    partition: int
    partitions: int
    deadline: float  # seconds since 1970
    max_pages: int
    max_bytes: int
    config: Config = Config()
    # The seed hosts of all partitions. They limit the crawl if there are no include rules. None: the task
    # reads them itself.
    seed_hosts: tuple[str, ...] | None = None
    tasks: int = 1  # fetch tasks of the round, this one included
    tail: float | None = None  # seconds that idle tasks wait for slow hosts; None: until the round ends
