"""What earlier attempts of a task have saved in this round, and what that leaves to be done."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.runs.run_files import HEADS
from crawlctl.pipeline.index.runs.run_heads import read_heads
from crawlctl.pipeline.state.journal import flushed_runs
from crawlctl.pipeline.state.kinds import DOCS, FRESH, HOSTS, OUTCOMES
from crawlctl.pipeline.urls.hosts import host_in_key
from crawlctl.pipeline.webdb.row_files import open_table, read_hosts, read_outcomes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from crawlctl.pipeline.config.settings import SitemapSettings
    from crawlctl.pipeline.fetch.pages.lookalikes import Lookalikes
    from crawlctl.pipeline.fetch.select.known_urls import KnownUrls
    from crawlctl.pipeline.politeness.host_state import HostState
    from crawlctl.pipeline.politeness.rules_memory import RuleMemory
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_MAX_SITEMAP_HOSTS = 10_000  # of a task in a round


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
    adopted.shares.update(map(host_in_key, adopted.done))
    return adopted


def remember_runs(store: Store, adopted: Adopted, known: KnownUrls, lookalikes: Lookalikes) -> None:
    """Teach the task what its predecessors had found: the URLs, and what their pages said."""
    for entry in adopted.files:
        if entry.kind == FRESH:
            for block in open_table(store, entry).blocks():
                known.add(block.keys)
        elif entry.kind == DOCS and entry.name.endswith(f"/{HEADS}"):
            for _, head in read_heads(store, entry.name):
                lookalikes.add(head.url, head.signature, head.sketch)


def host_states(
    store: Store,
    snapshot: Snapshot,
    partition: int,
    adopted: Adopted,
    wanted: Collection[str],
    *,
    rules: RuleMemory,
) -> dict[str, HostState]:
    """Return what is remembered of the hosts a task will ask, by the latest that was saved of each."""
    files = (*snapshot.files_of(HOSTS, partition), *_saved_hosts(adopted))
    states = _states(store, files, wanted.__contains__)
    return {host: rules.admit_host(host, state) for host, state in states.items()}


def due_sitemaps(
    store: Store,
    snapshot: Snapshot,
    partition: int,
    adopted: Adopted,
    *,
    settings: SitemapSettings,
    now: float,
) -> list[str]:
    """Return the hosts whose sitemaps are due, by the latest that was saved of each.

    Not more than so many: those that are left are due in the next round, too.
    """
    due: dict[str, None] = {}
    for entry in (*snapshot.files_of(HOSTS, partition), *_saved_hosts(adopted)):
        for host, state in read_hosts(store, entry):
            if not state.sitemaps_due(now, settings):
                due.pop(host, None)
            elif len(due) < _MAX_SITEMAP_HOSTS:
                due[host] = None
    return list(due)


def _saved_hosts(adopted: Adopted) -> list[FileEntry]:
    return [entry for entry in adopted.files if entry.kind == HOSTS]


def _states(
    store: Store, files: Iterable[FileEntry], is_wanted: Callable[[str], bool]
) -> dict[str, HostState]:
    states: dict[str, HostState] = {}
    for entry in files:
        states.update((host, state) for host, state in read_hosts(store, entry) if is_wanted(host))
    return states
