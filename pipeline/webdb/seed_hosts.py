"""The hosts of the seeds of a crawl, by the counters of the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.urls.hosts import host_of_key
from crawlctl.pipeline.webdb import census
from crawlctl.pipeline.webdb.packed import leading_columns
from crawlctl.pipeline.webdb.part import open_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


def seed_hosts(store: Store, snapshot: Snapshot) -> frozenset[str]:
    """Return the hosts of all seeds.

    Only parts whose counters do not list the hosts are read: parts of older releases, and parts with very
    many hosts (census.MAX_SEED_HOSTS).
    """
    hosts: set[str] = set()
    for entry in snapshot.files_of(WEBDB):
        if entry.records:  # the data file of a part; its index has no counters
            listed = census.seed_hosts(entry.counters)
            hosts.update(_read_seed_hosts(store, snapshot, entry.partition) if listed is None else listed)
    return frozenset(hosts)


def _read_seed_hosts(store: Store, snapshot: Snapshot, partition: int) -> Iterator[str]:
    part = open_part(store, snapshot, partition)
    for block in part.blocks() if part else ():
        rows = leading_columns(block.values, part.name if part else WEBDB, block.offset).seeds
        yield from (host_of_key(block.keys[row]) for row in rows.tolist())
