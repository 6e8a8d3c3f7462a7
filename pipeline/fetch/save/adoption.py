"""Finds the runs that earlier attempts of a task saved in this round, so that no work is repeated."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.index.runs.run_files import HEADS
from crawlctl.pipeline.index.runs.run_heads import read_heads
from crawlctl.pipeline.state.journal import saved_runs
from crawlctl.pipeline.state.kinds import DOCS, FRESH, HOSTS, OUTCOMES
from crawlctl.pipeline.urls.hosts import host_in_key, host_of_key
from crawlctl.pipeline.webdb.entries import merge_fresh
from crawlctl.pipeline.webdb.records import decode_fresh
from crawlctl.pipeline.webdb.row_files import open_table, read_hosts, read_outcomes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from crawlctl.pipeline.config.settings import SitemapSettings
    from crawlctl.pipeline.fetch.pages.lookalikes import Lookalikes
    from crawlctl.pipeline.fetch.select.known_urls import KnownUrls
    from crawlctl.pipeline.politeness.host_state import HostState
    from crawlctl.pipeline.politeness.rules_memory import RuleMemory
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import Fresh

_MAX_SITEMAP_HOSTS = 10_000  # per task and round


@dataclass
class Adopted:
    """The saved runs of a partition: their files, the keys of finished URLs, and their counters."""

    files: list[FileEntry] = field(default_factory=list)
    done: set[bytes] = field(default_factory=set)
    shares: Counter[bytes] = field(default_factory=Counter)  # host → number of finished URLs
    counts: Counter[str] = field(default_factory=Counter)


def adopt_runs(store: Store, round_number: int, partition: int) -> Adopted:
    """Return the runs that earlier attempts have saved."""
    adopted = Adopted()
    for run in saved_runs(store, round_number, partition):
        adopted.files += run
        for entry in run:
            if entry.kind == OUTCOMES:
                adopted.counts.update(entry.counters)
                adopted.done.update(key for key, _ in read_outcomes(store, entry))
    adopted.shares.update(map(host_in_key, adopted.done))
    return adopted


def remember_runs(store: Store, adopted: Adopted, known: KnownUrls, lookalikes: Lookalikes) -> None:
    """Add the URLs and the page texts that earlier attempts have saved to `known` and `lookalikes`."""
    for entry in adopted.files:
        if entry.kind == FRESH:
            for block in open_table(store, entry).blocks():
                known.add(block.keys)
        elif entry.kind == DOCS and entry.name.endswith(f"/{HEADS}"):
            for _, head in read_heads(store, entry.name):
                lookalikes.add(head.url, head.signature, head.sketch)


def found_urls(
    store: Store, adopted: Adopted, known: KnownUrls, is_own: Callable[[str], bool], most: int
) -> dict[bytes, Fresh]:
    """Return up to `most` URLs of this partition that earlier attempts have found and not finished.

    Only URLs are returned that are not in `known`, which has the URLs that earlier rounds knew.
    """
    found: dict[bytes, Fresh] = {}
    for key, value in _new_rows(store, adopted, known):
        if key in found:
            found[key] = merge_fresh(found[key], _without_anchors(value))
        elif len(found) < most and key not in adopted.done and is_own(host_of_key(key)):
            found[key] = _without_anchors(value)
    return found


def _new_rows(store: Store, adopted: Adopted, known: KnownUrls) -> Iterator[tuple[bytes, bytes]]:
    for entry in adopted.files:
        for block in open_table(store, entry).blocks() if entry.kind == FRESH else ():
            rows = zip(block.keys, block.values, known.contains(block.keys), strict=True)
            yield from ((key, value) for key, value, is_known in rows if not is_known)


def _without_anchors(packed: bytes) -> Fresh:
    return replace(decode_fresh(packed), anchors=(), anchor_weights=())


def host_states(
    store: Store,
    snapshot: Snapshot,
    partition: int,
    adopted: Adopted,
    wanted: Collection[str],
    *,
    rules: RuleMemory,
) -> dict[str, HostState]:
    """Return the last saved state of each host in `wanted`."""
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
    """Return the hosts whose sitemaps are due by their last saved state, at most 10,000.

    The other hosts stay due in the next round.
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
