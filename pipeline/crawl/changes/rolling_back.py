"""Makes an older snapshot current again, as a new snapshot with the same files.

Numbers of snapshots and rounds only grow. An open round must not continue on top of older documents: a server
may have answered "not changed" about a newer document. So a rollback to an earlier round ends the open round:
it is not continued, its number is not used again, and its pages are due again. Two snapshots of the same
round differ only by commands that fetch nothing, so a rollback between them leaves the round open.

The history is not rolled back: its rows say what the rounds have cost, and that stays true.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.crawl.history.history_files import with_history_of
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.errors import ConfigError, DamagedSnapshot, MissingFile
from crawlctl.pipeline.state.journal import is_round_open
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.snapshots import load_current, load_snapshot, snapshot_numbers
from crawlctl.pipeline.webdb.census import status_counts
from crawlctl.pipeline.webdb.records import LIVE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


@dataclass(frozen=True)
class SnapshotRow:
    """A snapshot in a list: when it was made, by which command, and how many pages could be found in it."""

    number: int
    created: float
    round: int
    pages: int
    urls: int
    made_by: str


@dataclass(frozen=True)
class RolledBack:
    """The new snapshot, the snapshot before it, and the open round that will not be continued."""

    snapshot: Snapshot
    undo: int
    dropped_round: int | None


def list_snapshots(store: Store) -> Iterator[SnapshotRow]:
    """Yield the snapshots that still exist, the oldest first."""
    for number in snapshot_numbers(store):
        try:
            yield _row(load_snapshot(store, number))
        # a gc has deleted it meanwhile, or it is damaged; other snapshots may be whole
        except (MissingFile, DamagedSnapshot) as err:
            yield SnapshotRow(number, 0.0, 0, 0, 0, f"cannot be read: {err}")


def roll_back(work: Work, number: int) -> RolledBack:
    """Commit the files of an older snapshot again."""
    with leased_crawl(work, "rollback", runs_jobs=False, current=_current_or_stand_in) as crawl:
        current = crawl.snapshot
        wanted = _older(crawl.store, number, current)
        crosses = wanted.round != current.round
        is_dropped = crosses and is_round_open(crawl.store, crawl.next_round)
        dropped = crawl.next_round if is_dropped else None
        made = crawl.commit(
            with_history_of(wanted.files, current.files),
            round_number=crawl.next_round if crosses else current.round,
            made_by=f"rollback to {number}",
        )
    return RolledBack(made, current.number, dropped)


def would_roll_back(work: Work, number: int) -> tuple[SnapshotRow, SnapshotRow, int | None]:
    """Return the current snapshot, the one that `roll_back` would restore, and the round it would drop."""
    current = _current_or_stand_in(work.store)
    wanted = _older(work.store, number, current)
    following = current.round + 1
    is_dropped = wanted.round != current.round and is_round_open(work.store, following)
    return _row(current), _row(wanted), following if is_dropped else None


def _current_or_stand_in(store: Store) -> Snapshot:
    """Return the current snapshot; if it is damaged, one with its number and the files of the last whole one.

    The round of a damaged snapshot is unknown. Each snapshot ends at most one round. So the round is
    estimated as the round of the last whole snapshot plus the difference of both snapshot numbers, which is
    never too small.
    """
    try:
        return load_current(store)
    except DamagedSnapshot:
        newest, *older = reversed(snapshot_numbers(store))
        for number in older:
            with suppress(DamagedSnapshot, MissingFile):
                whole = load_snapshot(store, number)
                return replace(whole, number=newest, round=whole.round + newest - number)
        raise


def _older(store: Store, number: int, current: Snapshot) -> Snapshot:
    numbers = [each for each in snapshot_numbers(store) if each < current.number]
    if number in numbers:
        return load_snapshot(store, number)
    if number == current.number:
        raise ConfigError(f"snapshot {number} is the current one; {_choice(numbers)}")
    raise ConfigError(f"there is no snapshot {number}; {_choice(numbers)}")


def _choice(numbers: Sequence[int]) -> str:
    if not numbers:
        return "no older one exists (`crawlctl gc` keeps as many as gc.keep_snapshots says)"
    named = ", ".join(map(str, numbers))
    return f"these older ones exist: {named}; `crawlctl rollback` says what made each"


def _row(snapshot: Snapshot) -> SnapshotRow:
    statuses: Counter[str] = Counter()
    for entry in snapshot.files_of(WEBDB):
        statuses.update(status_counts(entry.counters))
    pages = sum(statuses[status.name.lower()] for status in LIVE)
    made_by = snapshot.made_by or "an older version of crawlctl"
    return SnapshotRow(snapshot.number, snapshot.created, snapshot.round, pages, statuses.total(), made_by)
