"""Decides whether a run groups near duplicates at its end: by how many documents were not compared yet.

Only the list of files and the last groups are read, no document.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING
from zlib import crc32

from crawlctl.pipeline.index.segment.duplicate_groups import LEAST, OF_INDEX, read_groups
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.state.kinds import DELETED, GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


def is_grouping_due(store: Store, entries: Sequence[FileEntry], share: float, threshold: float) -> bool:
    """Return whether the end of a run groups: the index has changed since the last grouping, and enough.

    `share` is the part of all documents that must not have been compared yet. Documents of a segment that a
    merge has written count as not compared; if another `threshold` of similarity is asked for, all do.
    """
    if are_grouped(entries, threshold):
        return False
    if any(entry.kind == GROUPS for entry in entries) and not can_continue(entries, threshold):
        return True
    documents = sum(segment.documents for segment in searched_segments(entries))
    return not share or uncompared(store, entries) >= share * documents


def are_grouped(entries: Iterable[FileEntry], threshold: float) -> bool:
    """Return whether the last grouping has compared exactly the documents that the index has now."""
    files = tuple(entries)
    known = {entry.partition: entry.counters.get(OF_INDEX) for entry in files if entry.kind == GROUPS}
    return known == marks_of(files) and (not known or can_continue(files, threshold))


def uncompared(store: Store, entries: Sequence[FileEntry]) -> int:
    """Return how many documents the segments have that the last grouping did not know."""
    known = read_groups(store, entries)
    return sum(one.documents for one in searched_segments(entries) if one.name not in known)


def can_continue(entries: Iterable[FileEntry], threshold: float) -> bool:
    """Return whether a grouping can go on from the last one, not from nothing.

    It cannot in crawls of older releases and in copies with other partitions, where nothing says what was
    compared, or if another similarity was asked for.
    """
    found = {entry.counters.get(LEAST) for entry in entries if entry.kind == GROUPS}
    return found == {millionths(threshold)}


def millionths(threshold: float) -> int:
    """Return the least similarity as a counter can hold it."""
    return round(1_000_000 * threshold)


def marks_of(entries: Iterable[FileEntry]) -> dict[int, int]:
    """Return, for each partition with documents, a number that identifies its segments and tombstones."""
    files = tuple(entries)
    names: defaultdict[int, list[str]] = defaultdict(list)
    for segment in searched_segments(files):
        names[segment.partition].append(segment.name)
    for entry in files:
        if entry.kind == DELETED and entry.partition in names:
            names[entry.partition].append(entry.name)
    return {number: crc32("\n".join(sorted(some)).encode()) for number, some in names.items()}


def searched_segments(entries: Iterable[FileEntry]) -> list[Segment]:
    """Return the segments whose documents have a text; that is not so for pages that were not fetched yet."""
    return [segment for segment in segments_of(entries) if not segment.frontier]
