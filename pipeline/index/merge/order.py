"""What the tasks of an index merge work from: an order for all of them, and a line for each partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from crawlctl.pipeline.config.settings import IndexSettings
from crawlctl.pipeline.index.runs.run_files import RUN_KINDS
from crawlctl.pipeline.orders import StoreOrder, TaskOrder
from crawlctl.pipeline.state.kinds import DELETED, DICTIONARY, PRIORS, SEGMENTS, WEBDB
from crawlctl.pipeline.state.layout import round_of
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterable

PARTITION_KINDS = (*RUN_KINDS, SEGMENTS, DELETED, PRIORS)  # the files that a merge of a partition replaces


class IndexOrder(StoreOrder, frozen=True, kw_only=True):
    """What is the same for all tasks of a merge; it reaches them as a file."""

    command: ClassVar[str] = "crawlctl merge"

    round: int
    documents: int  # of the whole index, and its words by field and documents by language
    words: tuple[int, ...]
    languages: dict[str, int]
    frontier: int  # pages of a partition
    shards: int
    index: IndexSettings
    staying: tuple[FileEntry, ...]  # segments of partitions that have no part in the merge
    full: bool = False


class PartitionOrder(TaskOrder, frozen=True):
    """A partition to be merged: all its files of the index and of the WebDB."""

    command: ClassVar[str] = "crawlctl merge"

    partition: int
    files: tuple[FileEntry, ...]


@dataclass(frozen=True)
class MergePlan:
    """Which partitions take part in a merge, and the segments of all others."""

    partitions: tuple[PartitionOrder, ...]
    staying: tuple[FileEntry, ...]


def plan_merge(entries: Iterable[FileEntry], *, everything: bool = False) -> MergePlan:
    """Return the partitions that have runs, or pages that changed after the last merge, or else all."""
    files = tuple(entries)
    since = -1 if everything else last_merge(files)
    kinds = (*PARTITION_KINDS, WEBDB)
    by_partition: dict[int, list[FileEntry]] = {}
    for entry in files:
        if entry.kind in kinds:
            by_partition.setdefault(entry.partition, []).append(entry)
    changed = {
        entry.partition
        for entry in files
        if entry.kind in RUN_KINDS or (entry.kind == WEBDB and round_of(entry.name) > since)
    }
    return MergePlan(
        tuple(PartitionOrder(number, tuple(by_partition[number])) for number in sorted(changed)),
        tuple(entry for entry in files if entry.kind == SEGMENTS and entry.partition not in changed),
    )


def last_merge(entries: Iterable[FileEntry]) -> int:
    """Return the round in which the index was last merged, 0 if it never was."""
    return max((round_of(entry.name) for entry in entries if entry.kind == DICTIONARY), default=0)


def with_index(
    entries: Iterable[FileEntry], partitions: Iterable[int], merged: Iterable[FileEntry]
) -> tuple[FileEntry, ...]:
    """Return the files with what was merged in place of what it was merged from."""
    replaced = frozenset(partitions)
    kept = (
        entry
        for entry in entries
        if entry.kind != DICTIONARY and not (entry.kind in PARTITION_KINDS and entry.partition in replaced)
    )
    return (*kept, *merged)
