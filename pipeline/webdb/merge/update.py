"""Writes the next part of a partition, after a round or with new seeds.

The functions write files and return their entries. The caller commits them, together with other files of the
round.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.urls.hosts import host_of_key, partition_of, webdb_key
from crawlctl.pipeline.webdb.entries import discover
from crawlctl.pipeline.webdb.extract.part_extract import extract_of, unsettled_in
from crawlctl.pipeline.webdb.extract.review_rows import review_block
from crawlctl.pipeline.webdb.layers.delta import current_layers, write_changes
from crawlctl.pipeline.webdb.layers.layer import indexed_round
from crawlctl.pipeline.webdb.merge.join import MergeCounts, found_changes, part_changes
from crawlctl.pipeline.webdb.merge.leaders import signatures
from crawlctl.pipeline.webdb.merge.review import review, settle
from crawlctl.pipeline.webdb.part import open_part, part_in, with_parts
from crawlctl.pipeline.webdb.records import Fresh

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.extract.part_extract import PartExtract
    from crawlctl.pipeline.webdb.layers.changes import Changed
    from crawlctl.pipeline.webdb.merge.leaders import Outcomes
    from crawlctl.pipeline.webdb.part import WebDbPart

SEED_SCORE = 1.0

# A merge looks up URLs in key order, and unpacks a block once for all of them. If it looks up one of so many
# rows, that costs as much as reading the part from end to end (bench/bench_extract.py).
READ_PER_LOOK_UP = 4
MOST_LOOK_UPS = 200_000  # discovered URLs held in memory; if there are more, the part is read as a whole


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
    entries = snapshot.files_of(WEBDB, partition)
    files = current_layers(store, entries, partition=partition, round_number=round_number)
    old = part_in(store, files)
    found, rest = _first_found(fresh, old)
    unsettled = unsettled_in(old)
    extract = None if unsettled is None else _useful_extract(old, len(found) + len(outcomes) + len(unsettled))
    merge = _Merge(old, extract, outcomes, now, settings, unsettled=unsettled)
    changes = merge.changes(chain(found, rest))
    written = write_changes(
        store,
        files,
        changes,
        indexed=indexed_round(snapshot.files),
        unsettled=merge.unsettled,
        old=merge.extract,
        partition=partition,
        round_number=round_number,
    )
    return AdvancedPart(written, merge.counts)


def _first_found(
    fresh: Iterable[tuple[bytes, Fresh]], old: WebDbPart | None
) -> tuple[list[tuple[bytes, Fresh]], Iterator[tuple[bytes, Fresh]]]:
    """Return the first discovered URLs, at most one more than may be looked up, and the rest of them."""
    rest = iter(fresh)
    return list(islice(rest, _most_look_ups(old) + 1)), rest


def _most_look_ups(old: WebDbPart | None) -> int:
    return min(old.urls // READ_PER_LOOK_UP, MOST_LOOK_UPS) if old else 0


def _useful_extract(old: WebDbPart | None, rows: int) -> PartExtract | None:
    """Return the extract of the old part if few rows must be looked up, else None."""
    return extract_of(old) if rows <= _most_look_ups(old) else None


class _Merge:
    """The review of a round and the changes that follow; `extract` is that of the old part, if it is used."""

    def __init__(
        self,
        old: WebDbPart | None,
        extract: PartExtract | None,
        outcomes: Outcomes,
        now: int,
        settings: RecrawlSettings,
        *,
        unsettled: list[bytes] | None,
    ) -> None:
        self.counts = MergeCounts()
        self.extract = extract
        self._old = old
        self._outcomes = outcomes
        self._now, self._settings = now, settings
        fetched, _, is_quiet = signatures(outcomes)
        # If all answers were 304s there is no review; the pages that it should look at wait for the next
        # review.
        self.unsettled = unsettled if is_quiet else []
        self._seen: Block | None = None
        if self.extract is not None and not is_quiet:
            self._seen = review_block(self.extract, outcomes, fetched, unsettled or ())
        blocks = self._blocks() if self._seen is None else [self._seen]
        self._reviewed = review(blocks, outcomes, now=now, settings=settings, name=self._name)

    @property
    def _name(self) -> str:
        return self._old.name if self._old else WEBDB

    def _blocks(self) -> Iterable[Block]:
        return self._old.blocks() if self._old else ()

    def changes(self, fresh: Iterable[tuple[bytes, Fresh]]) -> Iterator[Changed]:
        """Yield how the next part differs from the old one."""
        settled, verdicts = settle(self._outcomes, self._reviewed), self._reviewed.verdicts
        if self.extract is None:
            return part_changes(
                self._blocks(),
                fresh,
                settled,
                now=self._now,
                settings=self._settings,
                counts=self.counts,
                verdicts=verdicts,
                name=self._name,
            )
        return found_changes(
            self.extract,
            fresh,
            settled,
            now=self._now,
            settings=self._settings,
            counts=self.counts,
            verdicts=verdicts,
            judged_keys=[key for key in (self._seen.keys if self._seen else ()) if hash(key) in verdicts],
        )


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
