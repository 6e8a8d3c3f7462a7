"""A graph as it is read from the store: its partitions dealt to tasks in groups, the blocks of a group."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.rank.graph.array_file import ArrayFile
from crawlctl.pipeline.rank.graph.nodes import MEMBER, SEED, find
from crawlctl.pipeline.rank.graph.sparse_blocks import Block, starts_of
from crawlctl.pipeline.rank.order import SEEDS, UNIFORM, IterateOrder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats, Numbers
    from crawlctl.pipeline.rank.order import Teleport
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

# What a task that solves holds: a link as the number of its source, and vectors of the nodes to mix.
BYTES_PER_ARC = 9
BYTES_PER_NODE = 160


def needed_memory(entries: Iterable[FileEntry]) -> int:
    """Return about how many bytes it takes to solve the graph, or some partitions of it, in one task."""
    return sum(
        BYTES_PER_ARC * entry.counters.get("arcs", 0) + BYTES_PER_NODE * entry.counters.get("nodes", 0)
        for entry in entries
    )


def group_partitions(entries: Sequence[FileEntry], partitions: int, memory: int) -> list[tuple[int, int]]:
    """Deal neighbouring partitions to as few tasks as the memory of one allows."""
    groups: list[tuple[int, int]] = []
    first, held = 0, 0
    for partition in range(partitions):
        needed = needed_memory(entry for entry in entries if entry.partition == partition)
        if held and held + needed > memory:
            groups.append((first, partition))
            first, held = partition, 0
        held += needed
    return [*groups, (first, partitions)]


@dataclass(frozen=True)
class Graph:
    """The files of a graph; each is opened once, since a round looks into all of them."""

    store: Store
    entries: Sequence[FileEntry]
    _open: dict[str, ArrayFile] = field(default_factory=dict)

    @cached_property
    def _nodes(self) -> dict[int, FileEntry]:
        return {entry.partition: entry for entry in self.entries if "nodes" in entry.counters}

    @cached_property
    def _blocks(self) -> dict[int, FileEntry]:
        return {entry.partition: entry for entry in self.entries if "arcs" in entry.counters}

    def nodes(self, partition: int) -> ArrayFile:
        """Return what is known of the nodes of a partition."""
        return self._file(self._nodes, partition)

    def blocks(self, partition: int) -> ArrayFile:
        """Return the blocks of a partition."""
        return self._file(self._blocks, partition)

    def count(self, what: str, partitions: Iterable[int] | None = None) -> int:
        """Return the sum of a counter over partitions, or over all."""
        wanted = None if partitions is None else set(partitions)
        return sum(
            entry.counters.get(what, 0)
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


class Group:
    """Some partitions of a graph in one numbering."""

    def __init__(self, graph: Graph, bounds: tuple[int, int]) -> None:
        self.graph = graph
        self.partitions = range(*bounds)
        sizes = [graph.count("nodes", [partition]) for partition in self.partitions]
        self.offsets = dict(zip(self.partitions, starts_of(np.array(sizes)).tolist(), strict=True))
        self.size = sum(sizes)

    @cached_property
    def degrees(self) -> Numbers:
        """The number of links of each node."""
        found = [self.graph.blocks(partition).read("degrees") for partition in self.partitions]
        return np.concatenate([np.zeros(0, np.int64), *found]).astype(np.int64)

    def blocks_to(self, other: Group) -> list[Block]:
        """Return the links from this group to another, or to itself."""
        return [
            read_block(self.graph.blocks(source), target).moved(other.offsets[target], self.offsets[source])
            for source in self.partitions
            for target in other.partitions
        ]

    def teleport(self, wanted: Teleport) -> Floats:
        """Return the teleport of the nodes of this group; over all groups it adds up to 1."""
        found = [self._weights(wanted, partition) for partition in self.partitions]
        return np.concatenate([np.zeros(0), *found])

    def _weights(self, wanted: Teleport, partition: int) -> Floats:
        nodes = self.graph.nodes(partition)
        flags = nodes.read("flags")
        if wanted.name == SEEDS and self.graph.count("seeds"):
            return _evenly(flags & SEED, self.graph.count("seeds"))
        if wanted.name in (UNIFORM, SEEDS):
            return _evenly(flags & MEMBER, self.graph.count("members"))
        weights = np.zeros(len(flags))
        at = find(nodes.read("hashes").astype(np.uint64), np.array(wanted.urls, np.uint64))
        weights[nodes.read("ordinals")[at[at >= 0]]] = 1 / len(wanted.urls)
        return weights


def _evenly(chosen: NDArray[np.integer], count: int) -> Floats:
    return np.where(chosen != 0, 1.0 / max(1, count), 0.0)


def read_block(file: ArrayFile, target: int) -> Block:
    """Return the links of a partition to the nodes of one other."""
    return Block(
        file.read(f"rows.{target}").astype(np.int64),
        starts_of(file.read(f"counts.{target}")),
        file.read(f"sources.{target}").astype(np.int64),
    )


def groups_of(graph: Graph, order: IterateOrder) -> list[Group]:
    """Return the groups of an order."""
    return [Group(graph, bounds) for bounds in order.groups]
