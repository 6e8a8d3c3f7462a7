"""Decides whether a run groups near duplicates at its end: by how many documents were not compared yet.

Only the list of files and the last groups are read, no document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from crawlctl.pipeline.index.segment.duplicate_groups import BY_RANKS, read_groups
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.state.kinds import GROUPS, RANKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

SMALL_INDEX = 10_000  # up to this number of documents grouping takes less than half a second


def is_grouping_due(store: Store, entries: Sequence[FileEntry], share: float) -> bool:
    """Return whether the end of a run groups: enough documents were not compared yet, or ranks have changed.

    `share` is the part of all documents that are enough. Grouping takes the longer the more documents there
    are, even if one has changed. Documents of a segment that a merge has written count as not compared, so a
    merge of large segments is followed by a grouping.
    """
    if are_grouped(store, entries):
        return False
    segments = [segment for segment in segments_of(entries) if not segment.frontier]
    documents = sum(segment.documents for segment in segments)
    if documents <= SMALL_INDEX or not _has_these_ranks(entries):
        return True
    compared = read_groups(store, entries)
    return sum(one.documents for one in segments if one.name not in compared) >= share * documents


def _has_these_ranks(entries: Sequence[FileEntry]) -> bool:
    """Return whether there are groups and these ranks chose their representatives."""
    ranks = {
        entry.counters.get(BY_RANKS, mark_of_ranks(entries)) for entry in entries if entry.kind == GROUPS
    }
    return ranks == {mark_of_ranks(entries)}


def are_grouped(store: Store, entries: Sequence[FileEntry]) -> bool:
    """Return whether the last grouping compared exactly the segments that the index has now, by these ranks.

    The ranks may be newer than the groups, if a run was killed after it had ranked. Groups of older releases
    and of copies do not say by which ranks they were made.
    """
    has_groups = any(entry.kind == GROUPS for entry in entries)
    if has_groups and not _has_these_ranks(entries):
        return False
    return set(read_groups(store, entries)) == {segment.name for segment in segments_of(entries)}


def mark_of_ranks(entries: Iterable[FileEntry]) -> int:
    """Return a number that identifies the ranks among some files: it changes with each ranking."""
    # The priors follow from the ranks, but are written again with each segment.
    return crc32("\n".join(sorted(entry.name for entry in entries if entry.kind == RANKS)).encode())
