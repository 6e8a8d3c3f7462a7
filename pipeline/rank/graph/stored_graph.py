"""A graph as it is read from the store, and the partitions of it that one task solves."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.rank.graph.array_file import ArrayFile
from crawlctl.pipeline.rank.graph.graph_files import ARCS, MEMBERS, NODES, SEED_NODES, block_files, node_files
from crawlctl.pipeline.rank.graph.nodes import MEMBER, SEED, find
from crawlctl.pipeline.rank.graph.sparse_blocks import Block
from crawlctl.pipeline.rank.order import SEEDS, UNIFORM, IterateOrder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats, Numbers
    from crawlctl.pipeline.rank.order import Teleport
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

# The memory of a task that solves: for the source of each link, and for the vectors that are mixed.
BYTES_PER_ARC = 9
BYTES_PER_NODE = 160
HALO_SHARE = 1.0  # of that memory, for nodes of other tasks, if there are several tasks (solve/halo.py)


def needed_memory(entries: Iterable[FileEntry]) -> int:
    """Return about how many bytes of memory one task needs to solve the partitions of these files."""
    return sum(
        BYTES_PER_ARC * entry.counters.get(ARCS, 0) + BYTES_PER_NODE * entry.counters.get(NODES, 0)
        for entry in entries
    )


def deal_partitions(entries: Sequence[FileEntry], partitions: int, memory: int) -> list[tuple[int, int]]:
    """Return ranges of partitions, [first, end): one per task, as few as `memory` bytes per task allow."""
    if needed_memory(entries) > memory:
        memory = int(memory / (1 + HALO_SHARE))
    dealt: list[tuple[int, int]] = []
    first, held = 0, 0
    for partition in range(partitions):
        needed = needed_memory(entry for entry in entries if entry.partition == partition)
        if held and held + needed > memory:
            dealt.append((first, partition))
            first, held = partition, 0
        held += needed
    return [*dealt, (first, partitions)]


@dataclass(frozen=True)
class Graph:
    """The files of a graph; each is opened once and stays open, since a round reads from all of them."""

    store: Store
    entries: Sequence[FileEntry]
    _open: dict[str, ArrayFile] = field(default_factory=dict)

    @cached_property
    def _nodes(self) -> dict[int, FileEntry]:
        return node_files(self.entries)

    @cached_property
    def _blocks(self) -> dict[int, FileEntry]:
        return block_files(self.entries)

    def nodes(self, partition: int) -> ArrayFile:
        """Return the file with the nodes of a partition."""
        return self._file(self._nodes, partition)

    def blocks(self, partition: int) -> ArrayFile:
        """Return the file with the links of a partition."""
        return self._file(self._blocks, partition)

    def count(self, counter: str, partitions: Iterable[int] | None = None) -> int:
        """Return the sum of a counter of graph_files.py over some partitions, or over all."""
        wanted = None if partitions is None else set(partitions)
        return sum(
            entry.counters.get(counter, 0)
            for entry in self.entries
            if wanted is None or entry.partition in wanted
        )

    def _file(self, entries: dict[int, FileEntry], partition: int) -> ArrayFile:
        entry = entries.get(partition)
        if entry is None:
            raise StoreError(f"{self.store.uri}: the graph lacks a file of partition {partition}; rank again")
        if entry.name not in self._open:
            self._open[entry.name] = ArrayFile(self.store, entry)
        return self._open[entry.name]


class TaskNodes:
    """The nodes of the partitions of one task, numbered one partition after the other."""

    def __init__(self, graph: Graph, partitions: tuple[int, int]) -> None:
        self.graph = graph
        self.partitions = range(*partitions)
        sizes = [graph.count(NODES, [partition]) for partition in self.partitions]
        self.offsets = dict(zip(self.partitions, starts_of(np.array(sizes)).tolist(), strict=True))
        self.size = sum(sizes)

    @cached_property
    def degrees(self) -> Numbers:
        """The number of links that each node has."""
        found = [self.graph.blocks(partition).read("degrees") for partition in self.partitions]
        return np.concatenate([np.zeros(0, np.int64), *found]).astype(np.int64)

    def blocks_to(self, other: TaskNodes) -> list[Block]:
        """Return the links from the nodes of this task to the nodes of another task, or to its own."""
        return [
            read_block(self.graph.blocks(source), target).moved(other.offsets[target], self.offsets[source])
            for source in self.partitions
            for target in other.partitions
        ]

    def teleport(self, wanted: Teleport) -> Floats:
        """Return the teleport of each node of this task; over all tasks it adds up to 1."""
        found = [self._weights(wanted, partition) for partition in self.partitions]
        return np.concatenate([np.zeros(0), *found])

    def _weights(self, wanted: Teleport, partition: int) -> Floats:
        nodes = self.graph.nodes(partition)
        flags = nodes.read("flags")
        if wanted.name == SEEDS and self.graph.count(SEED_NODES):
            return _evenly(flags & SEED, self.graph.count(SEED_NODES))
        if wanted.name in (UNIFORM, SEEDS):
            return _evenly(flags & MEMBER, self.graph.count(MEMBERS))
        weights = np.zeros(len(flags))
        at = find(nodes.read("hashes").astype(np.uint64), np.array(wanted.urls, np.uint64))
        weights[nodes.read("ordinals")[at[at >= 0]]] = 1 / len(wanted.urls)
        return weights


def _evenly(chosen: NDArray[np.integer], count: int) -> Floats:
    return np.where(chosen != 0, 1.0 / max(1, count), 0.0)


def read_block(file: ArrayFile, target: int) -> Block:
    """Return the links in the file of one partition to the nodes of the partition `target`."""
    return Block(
        file.read(f"rows.{target}").astype(np.int64),
        starts_of(file.read(f"counts.{target}")),
        file.read(f"sources.{target}").astype(np.int64),
    )


def nodes_of_tasks(graph: Graph, order: IterateOrder) -> list[TaskNodes]:
    """Return the nodes of each task of an order."""
    return [TaskNodes(graph, partitions) for partitions in order.tasks]
