"""The orders that the tasks of a ranking work from; each reaches them as a file of JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec

from crawlctl.pipeline.config.settings import FocusSettings
from crawlctl.pipeline.orders import StoreOrder, TaskOrder
from crawlctl.pipeline.rank.graph.link_sources import SOURCES
from crawlctl.pipeline.rank.solve.aggregation import MOST_REGIONS
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from crawlctl.pipeline.rank.graph.link_sources import LinkSource
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

UNIFORM = "uniform"
SEEDS = "seed"

RANK_COMMAND = "crawlctl rank"


class RankOrder(StoreOrder, frozen=True, kw_only=True):
    """What the orders of the three jobs of a ranking share."""

    command: ClassVar[str] = RANK_COMMAND


class GraphOrder(RankOrder, frozen=True, kw_only=True):
    """What the graph is made from: a snapshot, and where in it the links are."""

    snapshot: int
    round: int
    partitions: int
    links: str = "crawl"  # or arrays
    arrays: tuple[FileEntry, ...] = ()  # of links, where those are arrays that no snapshot names
    self_links: bool = False  # whether links of a page to itself count

    def link_source(self, store: Store, snapshot: Snapshot, partition: int) -> LinkSource:
        """Return where a partition has its links."""
        files = self.arrays if self.links == "arrays" else snapshot.files
        entries = [entry for entry in files if entry.partition == partition]
        return SOURCES[self.links](store, entries)


class Teleport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a reader who follows no link goes on: to all pages, to the seeds, or to some by hash."""

    name: str
    urls: tuple[int, ...] = ()


class IterateOrder(RankOrder, frozen=True, kw_only=True):
    """What is solved, how well, and how the partitions are dealt to tasks."""

    round: int
    files: tuple[FileEntry, ...]  # of the graph
    groups: tuple[tuple[int, int], ...]  # the partitions of each task: the first, and the one behind the last
    teleports: tuple[Teleport, ...]
    damping: float
    tolerance: float
    regions: int = MOST_REGIONS  # of all tasks, at most


class PublishOrder(RankOrder, frozen=True, kw_only=True):
    """What is published: the solution by which pages are ranked, and the one by which they are fetched."""

    snapshot: int
    round: int
    partitions: int
    graph: tuple[FileEntry, ...]
    ranks: tuple[FileEntry, ...]
    scores: tuple[FileEntry, ...]
    damping: float
    tolerance: float
    focus: FocusSettings = FocusSettings()


class StartingPoint(TaskOrder, frozen=True):
    """Where a group begins: anew, or from the state a job before has left."""

    command: ClassVar[str] = RANK_COMMAND

    group: int
    teleport: int = 0
    state: FileEntry | None = None
