"""Writes the next part of a partition, after a round or with new seeds.

The functions write files and return their entries. The caller commits them, together with other files of the
round.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.urls.hosts import host_of_key, partition_of, webdb_key
from crawlctl.pipeline.webdb.entries import discover
from crawlctl.pipeline.webdb.layers.delta import current_layers, write_changes
from crawlctl.pipeline.webdb.layers.layer import indexed_round
from crawlctl.pipeline.webdb.merge.join import MergeCounts, part_changes
from crawlctl.pipeline.webdb.merge.review import review, settle
from crawlctl.pipeline.webdb.part import open_part, part_in, with_parts
from crawlctl.pipeline.webdb.records import Fresh

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.merge.leaders import Outcomes

SEED_SCORE = 1.0


@dataclass(frozen=True)
class AdvancedPart:
    """All files of the new part, none if nothing has changed; and the counts of the pass that wrote it."""

    files: tuple[FileEntry, ...]
    counts: MergeCounts


@dataclass(frozen=True)
class Injected:
    """The files for the next snapshot (the old files if nothing changed), and the number of URLs."""

    files: tuple[FileEntry, ...]
    new: int
    known: int


def advance_part(
    store: Store,
    snapshot: Snapshot,
    partition: int,
    fresh: Iterable[tuple[bytes, Fresh]],
    outcomes: Outcomes,
    *,
    now: int,
    settings: RecrawlSettings,
    round_number: int,
) -> AdvancedPart:
    """Write the next part of a partition from its old part, discovered URLs and outcomes, sorted by key.

    If nothing changes, no files are written, and the old part stays.
    """
    numbers = {"partition": partition, "round_number": round_number}
    files = current_layers(store, snapshot.files_of(WEBDB, partition), **numbers)
    old = part_in(store, files)
    name = old.name if old else WEBDB
    counts = MergeCounts()
    reviewed = review(old.blocks() if old else (), outcomes, now=now, settings=settings, name=name)
    changes = part_changes(
        old.blocks() if old else (),
        fresh,
        settle(outcomes, reviewed),
        now=now,
        settings=settings,
        counts=counts,
        verdicts=reviewed.verdicts,
        name=name,
    )
    written = write_changes(store, files, changes, indexed=indexed_round(snapshot.files), **numbers)
    return AdvancedPart(written, counts)


def inject(store: Store, snapshot: Snapshot, urls: Iterable[str], now: int) -> Injected:
    """Add canonical URLs as seeds; only parts in which a seed changes something are written."""
    seeds: dict[int, set[bytes]] = defaultdict(set)
    for key in map(webdb_key, urls):
        seeds[partition_of(host_of_key(key), snapshot.partitions)].add(key)
    new = 0
    files: list[FileEntry] = []
    for partition, keys in sorted(seeds.items()):
        fresh = _new_seeds(store, snapshot, partition, sorted(keys), now)
        if not fresh:
            continue
        advanced = advance_part(
            store,
            snapshot,
            partition,
            fresh,
            (),
            now=now,
            settings=RecrawlSettings(),
            round_number=snapshot.round,
        )
        new += advanced.counts.new
        files += advanced.files
    return Injected(with_parts(snapshot, files), new, sum(map(len, seeds.values())) - new)


def _new_seeds(
    store: Store, snapshot: Snapshot, partition: int, keys: list[bytes], now: int
) -> list[tuple[bytes, Fresh]]:
    """Return the seeds that the part does not have yet, or has only as discovered URLs."""
    seed = Fresh(now, score=SEED_SCORE)
    part = open_part(store, snapshot, partition)
    if part is None:
        return [(key, seed) for key in keys]
    entries = ((key, part.get(key)) for key in keys)
    return [(key, seed) for key, entry in entries if entry is None or discover(entry, seed, now) is not entry]
