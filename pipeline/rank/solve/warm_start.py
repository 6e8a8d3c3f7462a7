"""Warm start: the ranks of the last ranking, from which an iteration begins.

Nodes have other numbers in each graph, so the last rank of a node is found by the stable hash of its URL. A
new URL begins with its teleport. Published ranks add up to 1; the iteration works with y, which adds up to
something else (stop_rule.py), so that sum is kept beside the ranks (TOTALS). The start decides only how many
sweeps or rounds are needed. It does not change how exact the published ranks are: the stop rule is the same.
Where a partition has no last ranks, for example because a copy has dealt the URLs anew, it begins as in a
first ranking.
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
TOTALS = "totals"  # the fact with the sum of y for each of them


def last_solution(store: Store, order: IterateOrder, nodes: TaskNodes, teleport: int) -> Floats | None:
    """Return the last y of the nodes of a task, 0 for new nodes; None if there are no last ranks."""
    if teleport >= len(LAST):
        return None
    before = {entry.partition: entry for entry in order.last_ranks}
    graph = node_files(order.last_nodes)
    found = [
        _by_hash(nodes, number, *_last_ranks(store, graph.get(number), before.get(number), teleport))
        for number in nodes.partitions
    ]
    vector = np.concatenate([np.zeros(0), *found])
    return vector if vector.any() else None


def _last_ranks(
    store: Store, nodes: FileEntry | None, ranks: FileEntry | None, teleport: int
) -> tuple[Hashes, Floats]:
    """Return the hashes of the URLs of a partition, sorted, and the last y of each."""
    none = np.zeros(0, np.uint64), np.zeros(0)
    if nodes is None or ranks is None:  # the partition had no URLs
        return none
    graph, published = ArrayFile(store, nodes), ArrayFile(store, ranks)
    totals, last = published.facts.get(TOTALS), published.read(LAST[teleport])
    if not totals or len(last) != nodes.records:  # of an older release or another graph, or scores of a copy
        return none
    return graph.read("hashes").astype(np.uint64), last[graph.read("ordinals")] * totals[teleport]


def _by_hash(nodes: TaskNodes, partition: int, hashes: Hashes, ranks: Floats) -> Floats:
    file = nodes.graph.nodes(partition)
    vector = np.zeros(nodes.graph.count(NODES, [partition]))
    at = find(hashes, file.read("hashes").astype(np.uint64))
    vector[file.read("ordinals")[at >= 0]] = ranks[at[at >= 0]]
    return vector
