"""Lists archives in the tables of captures, and drops captures from them whose records are gone.

A map task reads archives that no table covers, and writes tables of their captures for the partitions of
their hosts. A reduce task joins the old tables of one partition with these new tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.archive_captures import list_archives
from crawlctl.pipeline.captures.capture_table import tables_of, unlisted_archives, write_captures
from crawlctl.pipeline.captures.capture_tiers import merged_rows
from crawlctl.pipeline.scope.scope_rules import RuleSet
from crawlctl.pipeline.state.kinds import CAPTURES, PAGES
from crawlctl.pipeline.urls.hosts import host_of_key, url_of_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.captures.capture_table import CaptureTable, Row
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_SETTING = "scope.forgotten"


def list_partition(store: Store, draft: Snapshot, partition: int) -> Iterator[FileEntry]:
    """Yield the archives of a partition that were not listed, with their counters, and the new tables."""
    archives = unlisted_archives(draft.files_of(PAGES, partition))
    return list_archives(store, archives, draft.partitions, draft.round)


def relist_partition(
    store: Store, draft: Snapshot, partition: int, found: Iterable[FileEntry], rules: Iterable[str]
) -> tuple[FileEntry, ...]:
    """Return the tables of a partition with the new ones joined; without captures that are gone or forgotten.

    Tables in which nothing changes stay as they are.
    """
    before, new = tables_of(draft.files_of(CAPTURES, partition)), tables_of(found)
    kept = _Kept(draft, RuleSet(_SETTING, rules))
    if not new and not any(kept.loses(store, table) for table in before):
        return tuple(entry for table in before for entry in table.files)
    rows = kept.rows(merged_rows(store, [*before, *new]))
    return write_captures(store, rows, partition=partition, round_number=draft.round)


class _Kept:
    """Which captures stay: in archives of the snapshot or the user, and of pages that are not forgotten."""

    def __init__(self, draft: Snapshot, rules: RuleSet) -> None:
        self._archives = {entry.name for entry in draft.files_of(PAGES)}
        self._rules = rules

    def rows(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows with the captures that stay."""
        for key, captures in rows:
            if self._rules.matching(url_of_key(key), host_of_key(key)):
                continue
            kept = [one for one in captures if one.is_imported or one.file in self._archives]
            if kept:
                yield key, kept

    def loses(self, store: Store, table: CaptureTable) -> bool:
        """Return whether a table has captures that do not stay."""
        return table.captures != sum(len(captures) for _, captures in self.rows(table.rows(store)))
