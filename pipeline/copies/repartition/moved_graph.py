"""The graph of the last ranking in a partition of a copy: nodes get new numbers, and so do links.

The nodes of a host are one range in the partition of the source and one range in the partition of the copy.
So a table of hosts leads from old numbers to new ones. Aliases, which are needed only to build a graph, are
left out.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crawlctl.pipeline.copies.repartition.share import last_round
from crawlctl.pipeline.rank.graph.build import write_blocks
from crawlctl.pipeline.rank.graph.graph_files import NODES
from crawlctl.pipeline.rank.graph.nodes import member_arrays, write_nodes
from crawlctl.pipeline.rank.graph.sparse_blocks import make_block
from crawlctl.pipeline.rank.graph.stored_graph import Graph, read_block
from crawlctl.pipeline.state.kinds import GRAPH
from crawlctl.pipeline.urls.hosts import partition_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.copies.repartition.share import Share
    from crawlctl.pipeline.rank.graph.sparse_blocks import Numbers
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Arrays = dict[str, NDArray[Any]]
    Links = defaultdict[int, list[tuple[Numbers, Numbers]]]  # by the partition they lead to: sources, targets


class _Host(NamedTuple):
    home: int  # its partition in the copy
    name: str
    origin: int  # its partition in the source
    number: int  # among the hosts of that partition
    first: int  # its first node there
    nodes: int


class _Moves(NamedTuple):
    """Where the nodes of a partition of the source land, by host."""

    firsts: Numbers  # its first node in the source
    homes: Numbers  # its partition in the copy
    new_firsts: Numbers  # its first node there

    def of(self, nodes: Numbers) -> tuple[Numbers, Numbers]:
        """Return the partition and the new number of each node."""
        host = np.searchsorted(self.firsts, nodes, side="right") - 1
        return self.homes[host], self.new_firsts[host] + nodes - self.firsts[host]


def move_graph(source: Store, destination: Store, share: Share) -> tuple[FileEntry, ...]:
    """Write the nodes and the blocks of a partition; if nothing was ranked, there are no files."""
    entries = share.snapshot.files_of(GRAPH)
    if not entries:
        return ()
    moved = _MovedGraph(Graph(source, entries), share)
    return moved.write_nodes(destination), moved.write_blocks(destination)


class _MovedGraph:
    """One partition of the graph of the copy: the graph of the source, and where its hosts land."""

    def __init__(self, graph: Graph, share: Share) -> None:
        self._graph = graph
        self._share = share
        self._round = last_round(graph.entries)
        hosts = sorted(self._hosts())
        self._own = [host for host in hosts if host.home == share.number]
        self._moves = self._numbered(hosts)

    def write_nodes(self, store: Store) -> FileEntry:
        """Write the arrays of the nodes."""
        hashes, ordinals = self._members()
        flags = self._gathered("nodes", "flags", np.uint8)
        counts = np.array([host.nodes for host in self._own], np.int64)
        arrays: Arrays = {
            "flags": flags,
            **member_arrays(hashes, ordinals, self._share.partitions),
            "hosts": (np.cumsum(counts) - counts).astype(np.uint32),
        }
        names = [host.name for host in self._own]
        return write_nodes(store, arrays, names, partition=self._share.number, round_number=self._round)

    def write_blocks(self, store: Store) -> FileEntry:
        """Write the links."""
        degrees = self._gathered("blocks", "degrees", np.uint32)
        links: Links = defaultdict(list)
        for origin in self._share.origins:
            for target in range(self._share.snapshot.partitions):
                self._spread(origin, target, links)
        blocks = {
            home: make_block(*(np.concatenate(ends) for ends in zip(*some, strict=True)))
            for home, some in sorted(links.items())
        }
        return write_blocks(store, blocks, degrees, partition=self._share.number, round_number=self._round)

    def _spread(self, origin: int, target: int, links: Links) -> None:
        """Add the links of a block whose sources land in this partition, by the partition of the target."""
        block = read_block(self._graph.blocks(origin), target)
        homes, sources = self._moves[origin].of(block.sources)
        own = np.flatnonzero(homes == self._share.number)
        if not len(own):
            return
        counts = block.counts
        homes, targets = self._moves[target].of(np.repeat(block.rows, counts)[own])
        for home in np.unique(homes).tolist():
            chosen = homes == home
            links[home].append((sources[own][chosen], targets[chosen]))

    def _members(self) -> tuple[NDArray[np.uint64], Numbers]:
        hashes: list[NDArray[np.uint64]] = [np.zeros(0, np.uint64)]
        ordinals: list[Numbers] = [np.zeros(0, np.int64)]
        for origin in self._share.origins:
            nodes = self._graph.nodes(origin)
            homes, moved = self._moves[origin].of(nodes.read("ordinals").astype(np.int64))
            own = homes == self._share.number
            hashes.append(nodes.read("hashes").astype(np.uint64)[own])
            ordinals.append(moved[own])
        return np.concatenate(hashes), np.concatenate(ordinals)

    def _gathered(self, file: str, name: str, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
        """Return an array by node, put together from the ranges of the hosts that land in this partition."""
        opened = {origin: getattr(self._graph, file)(origin) for origin in self._share.origins}
        arrays = {origin: one.read(name) for origin, one in opened.items()}
        found = [arrays[host.origin][host.first : host.first + host.nodes] for host in self._own]
        return np.concatenate([np.zeros(0, dtype), *found]).astype(dtype)

    def _hosts(self) -> list[_Host]:
        hosts = []
        for origin in range(self._share.snapshot.partitions):
            nodes = self._graph.nodes(origin)
            names, firsts = nodes.facts["hosts"], nodes.read("hosts").tolist()
            ends = [*firsts[1:], self._graph.count(NODES, [origin])]  # one too many if there is no host
            for number, (name, first, end) in enumerate(zip(names, firsts, ends, strict=False)):
                home = partition_of(name, self._share.partitions)
                hosts.append(_Host(home, name, origin, number, first, end - first))
        return hosts

    def _numbered(self, hosts: list[_Host]) -> list[_Moves]:
        """Return where the nodes of each partition of the source land; `hosts` come by home and name."""
        found: list[list[tuple[int, int, int]]] = [[] for _ in range(self._share.snapshot.partitions)]
        following: defaultdict[int, int] = defaultdict(int)
        for host in hosts:
            found[host.origin].append((host.first, host.home, following[host.home]))
            following[host.home] += host.nodes
        columns = (np.array(sorted(some), np.int64).reshape(-1, 3).T for some in found)
        return [_Moves(*some) for some in columns]
