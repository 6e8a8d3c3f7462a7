"""Warm start: the ranks of the last ranking, from which an iteration begins.

Nodes have other numbers in each graph, so the last rank of a node is found by the stable hash of its URL. A
new URL begins with its teleport. The start decides only how many sweeps are needed. It does not change how
exact the published ranks are: the stop rule is the same (stop_rule.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.rank.graph.array_file import ArrayFile
from crawlctl.pipeline.rank.graph.graph_files import NODES, node_files
from crawlctl.pipeline.rank.graph.nodes import find

if TYPE_CHECKING:
    from crawlctl.pipeline.rank.graph.link_sources import Hashes
    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats
    from crawlctl.pipeline.rank.graph.stored_graph import TaskNodes
    from crawlctl.pipeline.rank.order import IterateOrder
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

# The arrays of the published ranks, in the order of the teleports of a ranking.
LAST = ("ranks", "scores")


def last_solution(store: Store, order: IterateOrder, nodes: TaskNodes, teleport: int) -> Floats | None:
    """Return the last ranks of the nodes of a task, 0 for new nodes; None if there are no last ranks."""
    if teleport >= len(LAST):
        return None
    before = {entry.partition: entry for entry in order.last_ranks}
    graph = node_files(order.last_nodes)
    found = [
        _by_hash(nodes, number, *_last_ranks(store, graph.get(number), before.get(number), LAST[teleport]))
        for number in nodes.partitions
    ]
    vector = np.concatenate([np.zeros(0), *found])
    return vector if vector.any() else None


def _last_ranks(
    store: Store, nodes: FileEntry | None, ranks: FileEntry | None, name: str
) -> tuple[Hashes, Floats]:
    """Return the hashes of the URLs of a partition, sorted, and the rank of each."""
    if nodes is None or ranks is None:  # the partition had no URLs
        return np.zeros(0, np.uint64), np.zeros(0)
    file, last = ArrayFile(store, nodes), ArrayFile(store, ranks).read(name)
    if len(last) != nodes.records:  # ranks of an older release have no scores
        return np.zeros(0, np.uint64), np.zeros(0)
    return file.read("hashes").astype(np.uint64), last[file.read("ordinals")]


def _by_hash(nodes: TaskNodes, partition: int, hashes: Hashes, ranks: Floats) -> Floats:
    file = nodes.graph.nodes(partition)
    vector = np.zeros(nodes.graph.count(NODES, [partition]))
    at = find(hashes, file.read("hashes").astype(np.uint64))
    vector[file.read("ordinals")[at >= 0]] = ranks[at[at >= 0]]
    return vector
