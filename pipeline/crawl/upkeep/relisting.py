"""Brings the tables of captures up to date with the archives of a draft, by one job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.captures.capture_table import LISTED
from crawlctl.pipeline.crawl.work import Shown, run_ordered
from crawlctl.pipeline.repair.captures_check import archived_captures, listed_captures
from crawlctl.pipeline.repair.order import RelistOrder
from crawlctl.pipeline.state.kinds import CAPTURES, PAGES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot


def relisted(
    work: Work, draft: Snapshot, *, rules: Sequence[str] = (), suspects: Collection[int] = ()
) -> tuple[FileEntry, ...]:
    """Return the files of a draft with tables of captures that fit its archives.

    Archives that no table covers are read. Also read are the archives of the partitions in `suspects`, whose
    tables have lost captures; if that does not restore all captures, the archives of all partitions are read.
    Captures of pages that match `rules`, and captures whose archive is gone, are dropped.
    """
    files = _relist(work, draft, rules, suspects)
    made = replace(draft, files=files)
    if suspects and listed_captures(made) != archived_captures(made):
        return _relist(work, made, rules, range(draft.partitions))
    return files


def _relist(
    work: Work, draft: Snapshot, rules: Sequence[str], suspects: Collection[int]
) -> tuple[FileEntry, ...]:
    from crawlctl.jobs.upkeep.list_captures import ListCaptures

    partitions = draft.partitions
    draft = replace(draft, files=tuple(_unlisted(entry, suspects) for entry in draft.files))
    order = RelistOrder(store=work.store.uri, draft=draft, rules=tuple(rules))
    lines = [b"%d" % number for number in range(partitions)]
    shown = Shown("captures", partitions, "partitions")
    found = run_ordered(work, ListCaptures, order, lines, reducers=partitions, shown=shown)
    listed = {entry.name for entry in found}
    others = (one for one in draft.files if one.kind != CAPTURES and one.name not in listed)
    return (*others, *found)


def _unlisted(entry: FileEntry, suspects: Collection[int]) -> FileEntry:
    """Return the entry of an archive; in these partitions without the counter that marks it as listed."""
    if entry.kind != PAGES or entry.partition not in suspects:
        return entry
    return replace(entry, counters={name: n for name, n in entry.counters.items() if name != LISTED})
