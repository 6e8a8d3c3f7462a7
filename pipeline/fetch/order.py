"""The order of a fetch task: one line of JSON, the only input of the task."""

from __future__ import annotations

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.config.units import HOUR
from crawlctl.pipeline.orders import StoreOrder
from crawlctl.pipeline.state.snapshots import Snapshot


class FetchOrder(StoreOrder, frozen=True, kw_only=True):
    """What a task fetches in one partition and one round, and within which limits."""

    snapshot: int
    round: int
    partition: int
    partitions: int
    deadline: float  # seconds since 1970
    # Seconds that the task may fetch at most, whatever the clock of its machine says about the deadline.
    fetch_time: float = HOUR
    max_pages: int
    max_bytes: int
    config: Config = Config()
    # The seed hosts of all partitions. They limit the crawl if there are no include rules. None: the task
    # reads them itself.
    seed_hosts: tuple[str, ...] | None = None
    tasks: int = 1  # fetch tasks of the round, this one included
    tail_wait: float | None = None  # seconds that a task waits in the tail of the round; None: no early end
    # Whether the round may go on for URLs that it has found itself (fetch/loop/outlink_following.py).
    may_lengthen: bool = False
    draft: Snapshot | None = None  # not committed yet; a replay works on it instead of `snapshot`
