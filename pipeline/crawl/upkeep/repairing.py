"""Repairs a crawl: restores damaged files from sound files.

    side files, dictionary        a merge of the partition writes them from the segments and the WebDB
    segments, documents           the archive is replayed; the merge indexes the pages again
    WebDB                         its sound rows are kept; the archive is replayed for the others
    duplicate groups, ranks       are computed again
    host table                    is dropped: the next visits learn it again
    settings                      are found again (changes/sound_settings.py)
    archive                       its sound records are kept
    captures                      sound rows are kept; archives that no table covers are read for the others
    history                       its sound rows are kept

A page that cannot be brought back is due at once. The whole repair works on a draft: a snapshot that no
reader sees before it is committed once. The damaged snapshot stays as it is until `crawlctl gc` deletes it.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from dataclasses import replace as with_fields
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.captures.capture_table import IMPORTED, unlisted_archives
from crawlctl.pipeline.config.own_layer import with_own
from crawlctl.pipeline.crawl.changes.sound_settings import find_settings
from crawlctl.pipeline.crawl.history.history_files import salvaged_history
from crawlctl.pipeline.crawl.indexing import IndexStep, with_groups
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.crawl.ranking import ranked_draft
from crawlctl.pipeline.crawl.replaying import replay
from crawlctl.pipeline.crawl.round_steps import kept_files, merge_webdb
from crawlctl.pipeline.crawl.upkeep.checking import check_snapshot
from crawlctl.pipeline.crawl.upkeep.relisting import relisted
from crawlctl.pipeline.crawl.work import run_ordered
from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.imports.order import ReplayWants
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.repair.damage import Damage
from crawlctl.pipeline.repair.order import PartitionRepair, RepairOrder
from crawlctl.pipeline.state.kinds import (
    CAPTURES,
    GRAPH,
    HISTORY,
    OUTCOMES,
    PAGES,
    PRIORS,
    RANKS,
    SETTINGS,
    WEBDB,
)
from crawlctl.pipeline.state.own_settings import write_own_settings
from crawlctl.pipeline.webdb.part import with_parts
from crawlctl.pipeline.webdb.seed_hosts import seed_hosts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.crawl.changes.sound_settings import FoundSettings
    from crawlctl.pipeline.crawl.upkeep.checking import Checked
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

_RANKING = (GRAPH, RANKS, PRIORS)


@dataclass(frozen=True)
class Repaired:
    """The result of a repair: the check before it, the snapshot that it has committed, and the losses."""

    checked: Checked
    snapshot: Snapshot | None  # None: nothing had to be repaired
    rows_lost: int = 0  # lost rows of the WebDB; facts that are in the archive and in links are restored
    partitions_with_older_rows: int = 0  # where WebDB rows are as they were before their last change
    documents_lost: int = 0  # pages that are due because their document is lost
    records_lost: int = 0  # pages that are due because the archive has lost them
    settings: FoundSettings | None = None  # the settings that it has restored
    listed: int = 0  # archives older than tables of captures, which the tables cover now
    history_lost: int = 0  # lost rows of the history
    imported_lost: int = 0  # lost pages whose document is only in an archive of the user
    places_lost: int = 0  # answers in imported archives whose place is no longer known


def repair(work: Work) -> Repaired:
    """Check the current snapshot, restore damaged files, and commit the result."""
    with leased_crawl(work, "check --repair") as crawl:
        work = crawl.work
        checked = check_snapshot(work, crawl.snapshot)
        damage = Damage(crawl.snapshot, checked.findings)
        unlisted = len(unlisted_archives(crawl.snapshot.files))
        if damage.is_none and not unlisted:
            return Repaired(checked, None)
        if beyond := damage.beyond_repair:
            raise StoreError(
                f"{work.store.locate(beyond)} is damaged and cannot be made again; take it from a copy of "
                "the crawl, or go back to an older snapshot with `crawlctl rollback`"
            )
        settings = _found_settings(work, crawl.snapshot) if damage.has(SETTINGS) else None
        if settings is not None:
            work = with_fields(work, config=with_own(work.config, settings.values))
        work.store.delete(damage.journal)
        if not damage.has_files and not unlisted:
            return Repaired(checked, crawl.snapshot)
        files, lost = crawl.snapshot.files, Counter[str]()
        if damage.has_files:
            files, lost = _rebuilt(work, crawl.snapshot, damage)
        if settings is not None:
            files = (*files, write_own_settings(work.store, settings.values, crawl.next_round))
        files = _with_captures(work, replace(crawl.snapshot, files=files), damage)
        lost["places"] = _imported(crawl.snapshot.files) - _imported(files)
        return Repaired(
            checked,
            crawl.commit(files),
            rows_lost=lost["rows"],
            partitions_with_older_rows=damage.partitions_with_older_rows,
            documents_lost=lost["documents"],
            records_lost=lost["records"],
            settings=settings,
            listed=unlisted,
            history_lost=lost["history"],
            imported_lost=lost["pages of archives"],
            places_lost=lost["places"],
        )


def _found_settings(work: Work, snapshot: Snapshot) -> FoundSettings:
    """Return the settings of a crawl whose settings file is damaged; raise if no file has them."""
    found = find_settings(work.store, snapshot, work.config)
    if found is None:
        raise StoreError(
            f"{work.store.uri}: the file of the crawl's own settings is damaged, and neither an older "
            "snapshot nor the settings in use here are a copy of it; take the file from a copy of the crawl, "
            f"or write the settings anew with `crawlctl config set --anew --store {work.store.uri}`"
        )
    return found


def _rebuilt(work: Work, before: Snapshot, damage: Damage) -> tuple[tuple[FileEntry, ...], Counter[str]]:
    """Make the files of a sound snapshot step by step; return the files and the losses."""
    now = int(time.time())
    sound = damage.sound_files()
    history, rows_of_history = salvaged_history(work.store, before.files, sound)
    lost = Counter(history=rows_of_history)
    draft = replace(before, files=(*sound, *history))
    if damage.is_only(SETTINGS, HISTORY):
        return draft.files, lost
    draft = replace(draft, files=(*draft.files, *_run(work, before, now, damage.salvages())))
    lost["rows"] = _rows(before) - _rows(draft)
    found = _replayed(work, before, draft, damage, rows_lost=lost["rows"] > 0 or damage.may_have_older_rows)
    with_runs = replace(draft, files=(*draft.files, *kept_files(found)))
    outcomes = _run(work, with_runs, now, damage.searches())
    lost.update(_lost_pages(work, outcomes))
    merged = merge_webdb(work, draft, (*found, *outcomes), is_draft=True)
    files = (*with_parts(draft, merged), *kept_files(found))
    step = IndexStep(files, before.partitions, before.round, also=damage.partitions, anew=True)
    if step.plan.partitions:
        files = step.merged_files(step.run(work))
    if before.files_of(RANKS) and (damage.has(*_RANKING) or damage.without_documents or lost["rows"]):
        files = ranked_draft(work, replace(before, files=files))
    return with_groups(work, files, before.round, anew=True), lost


def _with_captures(work: Work, draft: Snapshot, damage: Damage) -> tuple[FileEntry, ...]:
    """Return the files of a draft with tables of captures that fit its archives."""
    if not damage.has(PAGES, CAPTURES) and not unlisted_archives(draft.files):
        return draft.files
    return relisted(work, draft, suspects=damage.without_captures)


def _run(work: Work, draft: Snapshot, now: int, lines: Iterable[PartitionRepair]) -> tuple[FileEntry, ...]:
    from crawlctl.jobs.upkeep.repair_partition import RepairPartition

    orders = [encode_order(line) for line in lines]
    if not orders:
        return ()
    return run_ordered(work, RepairPartition, RepairOrder(store=work.store.uri, draft=draft, now=now), orders)


def _replayed(
    work: Work, before: Snapshot, draft: Snapshot, damage: Damage, *, rows_lost: bool
) -> tuple[FileEntry, ...]:
    """Replay archives to restore documents; if WebDB rows are lost, replay all partitions for links."""
    if not rows_lost:
        wants = ReplayWants(documents=True)
        return replay(work, draft, wants, partitions=damage.without_documents, is_draft=True)
    wants = ReplayWants(links=True, documents=True, entries=True, seeds=damage.lost_seeds(draft))
    hosts = None if work.config.scope.include else seed_hosts(work.store, before)
    return replay(work, draft, wants, seed_hosts=hosts, is_draft=True)


def _rows(snapshot: Snapshot) -> int:
    return sum(entry.records for entry in snapshot.files_of(WEBDB))


def _imported(files: Iterable[FileEntry]) -> int:
    """Return how many answers of imported archives the tables of captures have, by their counters."""
    return sum(entry.counters.get(IMPORTED, 0) for entry in files if entry.kind == CAPTURES)


def _lost_pages(work: Work, outcomes: Iterable[FileEntry]) -> Counter[str]:
    """Count the pages with losses by kind of loss; pages that no run fetches are counted separately."""
    from crawlctl.pipeline.webdb.records import Kind
    from crawlctl.pipeline.webdb.row_files import read_outcomes

    names = {Kind.DOCUMENT_LOST: "documents", Kind.RECORD_LOST: "records"}
    tables = (read_outcomes(work.store, entry) for entry in outcomes if entry.kind == OUTCOMES)
    return Counter(
        "pages of archives" if outcome.is_outside else names[outcome.kind]
        for table in tables
        for _, outcome in table
    )
