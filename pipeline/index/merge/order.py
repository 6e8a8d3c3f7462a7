"""The task orders of an index merge: one for all tasks, and one line of input per partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from msgspec import field

from crawlctl.pipeline.config.settings import IndexSettings
from crawlctl.pipeline.index.runs.run_files import RUN_KINDS
from crawlctl.pipeline.index.segment.dictionary_layers import FIRST_LAYER, layers_of, needed_layers
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.orders import StoreOrder, TaskOrder
from crawlctl.pipeline.state.kinds import DELETED, DICTIONARY, PRIORS, SEGMENTS, WEBDB
from crawlctl.pipeline.state.layout import round_of
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.webdb.layers.layer import newest_number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

PARTITION_KINDS = (*RUN_KINDS, SEGMENTS, DELETED, PRIORS)  # the files that a merge of a partition replaces


class IndexOrder(StoreOrder, frozen=True, kw_only=True):
    """The part of the order that is the same for all tasks of a merge; they read it from a file."""

    command: ClassVar[str] = "crawlctl merge"

    round: int
    documents: int  # documents of the whole index
    words: tuple[int, ...]  # words of the whole index, by field
    languages: dict[str, int]  # documents of the whole index by language
    frontier: int  # the greatest number of pages of a frontier segment
    shards: int
    index: IndexSettings
    staying: tuple[FileEntry, ...]  # segments of partitions that are not merged
    layers: tuple[FileEntry, ...] = ()  # the dictionary as it is; nothing if it is written anew, as one layer
    # By partition, the newest layer of the WebDB that the index knows after this merge.
    seen: dict[int, int] = field(default_factory=dict)
    full: bool = False


class PartitionOrder(TaskOrder, frozen=True):
    """A partition to be merged: all its files of the index and of the WebDB."""

    command: ClassVar[str] = "crawlctl merge"

    partition: int
    files: tuple[FileEntry, ...]
    seen: int | None = None  # the newest layer of its WebDB part at the last merge; None if that is not known

    @property
    def newest(self) -> int:
        """The newest layer of its WebDB part."""
        return newest_number(self.files)


@dataclass(frozen=True)
class ChosenPartitions:
    """The partitions that take part in a merge, and the segments of all other partitions."""

    partitions: tuple[PartitionOrder, ...]
    staying: tuple[FileEntry, ...]


def choose_partitions(
    entries: Iterable[FileEntry], *, everything: bool = False, also: Collection[int] = ()
) -> ChosenPartitions:
    """Plan a merge of the partitions with runs, or with pages that changed since; or of all partitions.

    The partitions in `also` take part in any case, unless they have no files.
    """
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
    changed |= by_partition.keys() & set(also)
    return ChosenPartitions(
        tuple(PartitionOrder(number, tuple(by_partition[number])) for number in sorted(changed)),
        tuple(entry for entry in files if entry.kind == SEGMENTS and entry.partition not in changed),
    )


def last_merge(entries: Iterable[FileEntry]) -> int:
    """Return the round in which the index was last merged, 0 if it never was."""
    return max((round_of(entry.name) for entry in entries if entry.kind == DICTIONARY), default=0)


def with_index(
    entries: Iterable[FileEntry], partitions: Iterable[int], merged: Iterable[FileEntry]
) -> tuple[FileEntry, ...]:
    """Return the files of a snapshot after a merge: new files instead of the files they were merged from."""
    replaced = frozenset(partitions)
    files, merged_files = tuple(entries), tuple(merged)
    kept = tuple(
        entry
        for entry in files
        if entry.kind != DICTIONARY and not (entry.kind in PARTITION_KINDS and entry.partition in replaced)
    )
    after = (*kept, *(entry for entry in merged_files if entry.kind != DICTIONARY))
    return (*after, *_dictionary_of(files, merged_files, [segment.name for segment in segments_of(after)]))


def _dictionary_of(
    before: Iterable[FileEntry], merged: Iterable[FileEntry], live: Collection[str]
) -> tuple[FileEntry, ...]:
    """Return the new layer of the dictionary, and the earlier layers that are still needed."""
    for newest in layers_of(merged):
        older = (entry for entry in before if entry.kind == DICTIONARY) if newest.number > FIRST_LAYER else ()
        return needed_layers((*older, *newest.files), live)
    return ()
