"""What earlier attempts of a task have saved in this round, and what that leaves to be done."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.rowfiles import read_hosts, read_outcomes
from crawlctl.pipeline.index.documents import decode_record
from crawlctl.pipeline.index.files import DOCS
from crawlctl.pipeline.store.journal import flushed_runs
from crawlctl.pipeline.store.layout import INDEX
from crawlctl.pipeline.webdb.tables import FRESH, HOSTS, OUTCOMES, open_table

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawlctl.pipeline.fetch.known import KnownUrls
    from crawlctl.pipeline.fetch.twins import Twins
    from crawlctl.pipeline.net.hoststate import HostState
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.manifest import FileEntry
    from crawlctl.pipeline.store.snapshots import Snapshot


@dataclass
class Adopted:
    """The saved runs of a partition: their files, the URLs that are done, and what they counted."""

    files: list[FileEntry] = field(default_factory=list)
    runs: int = 0
    done: set[bytes] = field(default_factory=set)
    shares: Counter[bytes] = field(default_factory=Counter)  # URLs done by host
    counts: Counter[str] = field(default_factory=Counter)


def adopt_runs(store: Store, round_number: int, partition: int) -> Adopted:
    """Return what earlier attempts have saved."""
    adopted = Adopted()
    for run in flushed_runs(store, round_number, partition):
        adopted.runs += 1
        adopted.files += run
        for entry in run:
            if entry.kind == OUTCOMES:
                adopted.counts.update(entry.counters)
                adopted.done.update(key for key, _ in read_outcomes(store, entry))
    adopted.shares.update(key.partition(b" ")[0] for key in adopted.done)
    return adopted


def remember_runs(store: Store, adopted: Adopted, known: KnownUrls, twins: Twins) -> None:
    """Teach the task what its predecessors had found: the URLs, and what their pages said."""
    for entry in adopted.files:
        if entry.kind == FRESH:
            for block in open_table(store, entry).blocks():
                known.add(block.keys)
        elif entry.kind == DOCS and not entry.name.endswith(f"/{INDEX}"):
            for block in open_table(store, entry).blocks():
                for value in block.values:
                    record = decode_record(value, store.locate(entry.name), block.offset)
                    twins.add(record.url, record.signature, record.similarity)


def host_states(
    store: Store, snapshot: Snapshot, partition: int, adopted: Adopted, wanted: Collection[str]
) -> dict[str, HostState]:
    """Return what is remembered of the hosts a task will ask, by the latest that was saved of each."""
    states: dict[str, HostState] = {}
    saved = (entry for entry in adopted.files if entry.kind == HOSTS)
    for entry in (*snapshot.files_of(HOSTS, partition), *saved):
        states.update((host, state) for host, state in read_hosts(store, entry) if host in wanted)
    return states
