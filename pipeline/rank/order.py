"""The task orders of the three jobs of a ranking: graph, iterate, publish."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from crawlctl.pipeline.config.settings import FocusSettings
from crawlctl.pipeline.orders import StoreOrder, TaskOrder
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import Snapshot

UNIFORM = "uniform"
SEEDS = "seed"

RANK_COMMAND = "crawlctl rank"


class RankOrder(StoreOrder, frozen=True, kw_only=True):
    """The base class of the orders of the three jobs of a ranking."""

    command: ClassVar[str] = RANK_COMMAND

    draft: Snapshot | None = None  # not committed yet; a repair ranks it instead of `snapshot`


class GraphOrder(RankOrder, frozen=True, kw_only=True):
    """Make the graph of a snapshot."""

    snapshot: int
    round: int
    partitions: int


class Teleport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a reader who follows no link goes: to any page, to the seeds, or to the pages in `urls`."""

    name: str  # UNIFORM, SEEDS, or any other name for the pages in `urls`
    urls: tuple[int, ...] = ()  # stable hashes


class IterateOrder(RankOrder, frozen=True, kw_only=True):
    """Solve a graph for one or several teleports."""

    round: int
    files: tuple[FileEntry, ...]  # the files of the graph
    tasks: tuple[tuple[int, int], ...]  # the partitions [first, end) of each task
    teleports: tuple[Teleport, ...]
    damping: float
    tolerance: float  # the error that a solution may have, in L1
    # The graph and the ranks of the last ranking, if there was one; the iteration begins with them.
    last_nodes: tuple[FileEntry, ...] = ()
    last_ranks: tuple[FileEntry, ...] = ()


class PublishOrder(RankOrder, frozen=True, kw_only=True):
    """Publish two solutions: `ranks` for searching, `scores` for the order of fetching."""

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
    """Where a task of an iteration begins: with the first round, or with the state of an earlier job."""

    command: ClassVar[str] = RANK_COMMAND

    task: int  # an index of IterateOrder.tasks
    teleport: int = 0  # an index of IterateOrder.teleports
    state: FileEntry | None = None
