"""The work of a reducer of the WebDB merge: writes the next part and tables of a partition."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import merge
from operator import itemgetter
from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.capture_tiers import merge_captures
from crawlctl.pipeline.state.kinds import BLOCKS, CAPTURES, HOSTS, OUTCOMES
from crawlctl.pipeline.webdb.host_table import merge_hosts
from crawlctl.pipeline.webdb.merge.shuffle import gather
from crawlctl.pipeline.webdb.merge.update import advance_part
from crawlctl.pipeline.webdb.repeated.block_table import merge_blocks
from crawlctl.pipeline.webdb.row_files import read_outcomes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.config.settings import RecrawlSettings
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.merge.join import MergeCounts
    from crawlctl.pipeline.webdb.records import Outcome


@dataclass(frozen=True)
class MergedPartition:
    """The new files of a partition, which replace the old ones, and the counts of the pass over its part."""

    files: tuple[FileEntry, ...]
    counts: MergeCounts


def merge_partition(
    store: Store,
    snapshot: Snapshot,
    partition: int,
    messages: Iterable[bytes],
    *,
    now: int,
    settings: RecrawlSettings,
    round_number: int,
    nobody_reached: bool = False,
) -> MergedPartition:
    """Write the next WebDB part and the tables beside it of a partition, from the messages of the mappers."""
    fresh, files = gather(messages)
    advanced = advance_part(
        store,
        snapshot,
        partition,
        fresh,
        OutcomeTables(store, [file for file in files if file.kind == OUTCOMES]),
        now=now,
        settings=settings,
        round_number=round_number,
    )
    runs = [file for file in files if file.kind == HOSTS]
    hosts = merge_hosts(store, snapshot, partition, runs, round_number, nobody_reached=nobody_reached)
    numbers = {"partition": partition, "round_number": round_number}
    captures = merge_captures(store, snapshot.files_of(CAPTURES, partition), files, **numbers)
    blocks = merge_blocks(store, snapshot.files_of(BLOCKS, partition), files, **numbers)
    return MergedPartition((*advanced.files, *hosts, *captures, *blocks), advanced.counts)


class OutcomeTables:
    """The outcomes of several sorted files as one sorted sequence, which each iteration reads again."""

    def __init__(self, store: Store, files: Sequence[FileEntry]) -> None:
        self._store = store
        self._files = files

    def __len__(self) -> int:
        return sum(file.records for file in self._files)

    def __iter__(self) -> Iterator[tuple[bytes, Outcome]]:
        return merge(*(read_outcomes(self._store, file) for file in self._files), key=itemgetter(0))
