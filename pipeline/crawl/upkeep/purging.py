"""Deletes the data of forgotten pages: WebDB rows, archived records, text in the index, old snapshots."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from crawlctl.pipeline.crawl.indexing import IndexStep, with_groups
from crawlctl.pipeline.crawl.ranking import ranked_draft
from crawlctl.pipeline.crawl.upkeep.relisting import relisted
from crawlctl.pipeline.crawl.work import Shown, run_by_order
from crawlctl.pipeline.errors import CorruptFile, MissingFile
from crawlctl.pipeline.repair.order import PurgeOrder
from crawlctl.pipeline.repair.purge_task import PurgedPartition
from crawlctl.pipeline.state.garbage import collect
from crawlctl.pipeline.state.journal import is_round_open, open_round_files
from crawlctl.pipeline.state.kinds import PURGED, RANKS, WEBDB
from crawlctl.pipeline.state.purged_rules import purged_rules, write_purged_rules
from crawlctl.pipeline.state.snapshots import load_snapshot, snapshot_numbers

if TYPE_CHECKING:
    from crawlctl.pipeline.crawl.leased_crawl import LeasedCrawl
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

_ANY_AGE = 86_400.0  # seconds; no two clocks differ by more


@dataclass(frozen=True)
class Purged:
    """What was removed: numbers of WebDB pages, archived records, and older snapshots that named them."""

    pages: int
    records: int
    snapshots: tuple[int, ...]


def purge_forgotten(crawl: LeasedCrawl) -> Purged | None:
    """Remove the pages that the rules in scope.forgotten match; None if there is nothing to remove.

    Afterwards no snapshot and no file holds these pages, whatever the gc settings say. While a round is open
    nothing is removed, because its files may hold such pages too.
    """
    rules = crawl.work.config.scope.forgotten
    done = purged_rules(crawl.store, crawl.snapshot)
    if set(rules) == done:
        older = _delete_older(crawl, done)  # an earlier gc may have been killed before it did this
        return Purged(0, 0, older) if older else None
    if is_round_open(crawl.store, crawl.next_round):
        crawl.work.display.say("forgotten pages are deleted when the open round is finished (`crawlctl run`)")
        return None
    partitions = _purge(crawl.work, crawl.snapshot, rules) if set(rules) - done else ()
    files = _remaining(crawl.work, crawl.snapshot, partitions)
    marker = write_purged_rules(crawl.store, rules, crawl.snapshot.round)
    crawl.commit((*(entry for entry in files if entry.kind != PURGED), *marker))
    older = _delete_older(crawl, frozenset(rules)) if partitions else ()
    return Purged(sum(one.rows for one in partitions), sum(one.records for one in partitions), older)


def _delete_older(crawl: LeasedCrawl, rules: frozenset[str]) -> tuple[int, ...]:
    """Delete the snapshots from before the purge, and files of any age that no other snapshot names.

    Files that these snapshots named may hold the pages. No other process writes while we hold the lease, so
    the age of a file, which protects unfinished work, does not matter.
    """
    numbers = snapshot_numbers(crawl.store)
    newer = list(takewhile(lambda number: _is_purged(crawl, number, rules), reversed(numbers)))
    if len(newer) == len(numbers):
        return ()
    deleted = collect(
        crawl.store,
        keep=max(1, len(newer)),
        min_age=0,
        now=time.time() + _ANY_AGE,
        also_keep=open_round_files(crawl.store, crawl.next_round),  # the goal and the costs of a run
    )
    return deleted.snapshots


def _is_purged(crawl: LeasedCrawl, number: int, rules: frozenset[str]) -> bool:
    """Return whether a snapshot was made after the pages of these rules were removed."""
    if number == crawl.snapshot.number:
        return True
    try:
        return rules <= purged_rules(crawl.store, load_snapshot(crawl.store, number))
    except (CorruptFile, MissingFile):
        return False


def _purge(work: Work, snapshot: Snapshot, rules: tuple[str, ...]) -> tuple[PurgedPartition, ...]:
    from crawlctl.jobs.upkeep.purge_pages import PurgePages

    order = PurgeOrder(store=work.store.uri, snapshot=snapshot.number, rules=rules)
    lines = [str(number).encode() for number in range(snapshot.partitions)]
    shown = Shown("purge", snapshot.partitions, "partitions")
    done = run_by_order(work, PurgePages, order, lines, shown=shown)
    return tuple(msgspec.json.decode(line, type=PurgedPartition) for _, line in done.output)


def _remaining(work: Work, snapshot: Snapshot, purged: tuple[PurgedPartition, ...]) -> tuple[FileEntry, ...]:
    """Return the files of the crawl without the purged pages, with a matching index and matching ranks."""
    if not purged:
        return snapshot.files
    dropped = {name for one in purged for name in one.dropped}
    files = tuple(entry for entry in snapshot.files if entry.name not in dropped)
    files = (*files, *(entry for one in purged for entry in one.written))
    files = relisted(work, replace(snapshot, files=files), rules=work.config.scope.forgotten)
    concerned = frozenset(one.partition for one in purged if one.rows)
    step = IndexStep(files, snapshot.partitions, snapshot.round, also=concerned, rewrites=True)
    if not concerned or not step.plan.partitions:
        return files
    files = step.merged_files(step.run(work))
    if snapshot.files_of(RANKS) and any(entry.kind == WEBDB for entry in files):
        files = ranked_draft(work, replace(snapshot, files=files))
    return with_groups(work, files, snapshot.round, anew=True)  # no hash or key of a purged page stays
