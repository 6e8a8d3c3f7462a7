"""The order a fetch task works from: one line of JSON, the only input of the task."""

from __future__ import annotations

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.orders import StoreOrder


class FetchOrder(StoreOrder, frozen=True, kw_only=True):
    """What one partition is to fetch in one round, and within which bounds.

    The configuration goes along because a task on a cluster sees neither the files nor the environment of
    whoever started it.
    """

    snapshot: int
    round: int
    partition: int
    partitions: int
    deadline: float  # seconds since 1970
    max_pages: int
    max_bytes: int
    config: Config = Config()
    # Of all partitions; they bound the crawl where no include rule does. None: the task looks them up.
    seed_hosts: tuple[str, ...] | None = None
    tasks: int = 1  # of the round, this one included
    tail: float | None = None  # seconds that idle tasks wait for slow hosts; None: as long as the round lasts
