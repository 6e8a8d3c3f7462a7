"""Merges the tables of captures of a partition by size, so that a round writes few captures beside new ones.

The new runs of a round are merged into one table. Existing tables, from the smallest on, are merged into it
too, as long as each is at most RATIO times as large as all tables merged before. So each remaining table has
more than RATIO times the captures of the next smaller table: a partition with n captures has O(log n) tables,
and a capture is written O(log n) times in its life. (It is the rule of merge_policy.py, without its limits:
this merge holds one block per table.)
"""

from __future__ import annotations

from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.capture_record import joined
from crawlctl.pipeline.captures.capture_table import tables_of, write_captures
from crawlctl.pipeline.errors import CorruptFile, MissingFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.captures.capture_table import CaptureTable, Row
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

RATIO = 3

_by_key = itemgetter(0)


def merge_captures(
    store: Store,
    before: Iterable[FileEntry],
    runs: Iterable[FileEntry],
    *,
    partition: int,
    round_number: int,
) -> tuple[FileEntry, ...]:
    """Return all tables of a partition after a round: those that stay, and one new table.

    `before` are the files of the partition, `runs` the new files; files of other kinds are ignored. Without
    new tables nothing is written or returned.
    """
    new = tables_of(runs)
    if not new:
        return ()
    old = tables_of(before)
    stay, taken = split_tiers(old, new)
    try:
        written = _one_table(store, taken, partition, round_number)
    except (CorruptFile, MissingFile):
        # A damaged old table must not stop a round: it stays as it is, and `crawlctl check` names it.
        taken = [table for table in taken if table in new or _is_sound(store, table)]
        stay = [table for table in old if table not in taken]
        written = _one_table(store, taken, partition, round_number)
    return (*(entry for table in stay for entry in table.files), *written)


def _is_sound(store: Store, table: CaptureTable) -> bool:
    try:
        return all(True for _ in table.rows(store))
    except (CorruptFile, MissingFile):
        return False


def _one_table(
    store: Store, tables: Sequence[CaptureTable], partition: int, round_number: int
) -> tuple[FileEntry, ...]:
    if len(tables) == 1:
        return tables[0].files
    return write_captures(store, merged_rows(store, tables), partition=partition, round_number=round_number)


def split_tiers(
    before: Sequence[CaptureTable], new: Sequence[CaptureTable]
) -> tuple[list[CaptureTable], list[CaptureTable]]:
    """Return the tables that stay as they are, and the tables to merge into one."""
    taken = list(new)
    total = sum(table.captures for table in new)
    by_size = sorted(before, key=lambda table: (table.captures, table.data.name))
    for number, table in enumerate(by_size):
        if table.captures > RATIO * total:
            return by_size[number:], taken
        taken.append(table)
        total += table.captures
    return [], taken


def merged_rows(store: Store, tables: Iterable[CaptureTable]) -> Iterator[Row]:
    """Yield the rows of several tables in the order of their keys, with all captures of a URL in one row."""
    rows = merge(*(table.rows(store) for table in tables), key=_by_key)
    for key, same in groupby(rows, key=_by_key):
        found = [captures for _, captures in same]
        yield key, found[0] if len(found) == 1 else joined(one for some in found for one in some)
