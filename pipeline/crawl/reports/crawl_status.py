"""The state of a crawl in figures, and which process is using it."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.index.statistics import summary_of
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.lease_records import latest_record
from crawlctl.pipeline.webdb.census import HOSTS, status_counts

if TYPE_CHECKING:
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


def crawl_status(store: Store, snapshot: Snapshot) -> dict[str, Any]:
    """Return the figures of a snapshot, by the counters of its files alone."""
    statuses: Counter[str] = Counter()
    hosts = 0
    for entry in snapshot.files_of(WEBDB):
        statuses.update(status_counts(entry.counters))
        hosts += entry.counters.get(HOSTS, 0)
    return {
        "store": store.uri,
        "snapshot": snapshot.number,
        "committed": snapshot.created,
        "round": snapshot.round,
        "partitions": snapshot.partitions,
        "files": len(snapshot.files),
        "bytes": sum(entry.bytes for entry in snapshot.files),
        "hosts": hosts,
        "urls": sum(statuses.values()),
        "statuses": dict(statuses),
        "index": summary_of(snapshot.files),
        "holder": _holder(store),
    }


def _holder(store: Store) -> str | None:
    """Return the process that holds the lease, None if no process does."""
    _, record = latest_record(store)
    if record is None or record.is_free(time.time()):
        return None
    return f"crawlctl {record.command}, process {record.process.pid} on {record.process.host}"
