"""Explains the rank of a page: which pages contribute most to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.rank.graph.array_file import ArrayFile
from crawlctl.pipeline.rank.graph.graph_files import MEMBERS
from crawlctl.pipeline.rank.graph.nodes import find
from crawlctl.pipeline.rank.graph.stored_graph import Graph, read_block
from crawlctl.pipeline.rank.publish.rank_tables import ALIGNED
from crawlctl.pipeline.state.kinds import GRAPH, RANKS
from crawlctl.pipeline.urls.hosts import host_of, partition_of, stable_hash, url_in_key, url_of_key
from crawlctl.pipeline.webdb.part import open_part

if TYPE_CHECKING:
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

GIVERS = 5  # how many linking pages are named


@dataclass(frozen=True)
class Giver:
    """A page that links to the explained page, and its share of the rank of that page."""

    url: str
    share: float


@dataclass(frozen=True)
class RankExplanation:
    """The rank of a page, the number of pages that link to it, and the pages that contribute most."""

    rank: float
    multiple: float  # the rank as a multiple of the average rank
    links: int
    givers: tuple[Giver, ...]


def explain_rank(store: Store, snapshot: Snapshot, url: str, limit: int = GIVERS) -> RankExplanation | None:
    """Explain the rank of a canonical URL in the last ranking; None if the ranking did not know the page."""
    graph = Graph(store, snapshot.files_of(GRAPH))
    ranks = {
        entry.partition: ArrayFile(store, entry)
        for entry in snapshot.files_of(RANKS)
        if entry.name.endswith(ALIGNED)
    }
    home = partition_of(host_of(url), snapshot.partitions)
    if home not in ranks:
        return None
    node = _node_of(graph, home, stable_hash(url))
    if node is None:
        return None
    own = float(ranks[home].read("ranks", node, node + 1)[0])
    found = [
        (float(ranks[source].read("ranks", one, one + 1)[0]) / degree, source, one)
        for source in sorted(ranks)
        for one, degree in _linking(graph, source, home, node)
    ]
    first = sorted(found, reverse=True)[:limit]
    damping = ranks[home].facts["damping"]
    urls = _urls(store, snapshot, graph, [(source, one) for _, source, one in first])
    givers = tuple(Giver(urls[source, one], damping * given / own) for given, source, one in first)
    return RankExplanation(own, own * graph.count(MEMBERS), len(found), givers)


def _node_of(graph: Graph, partition: int, url_hash: int) -> int | None:
    nodes = graph.nodes(partition)
    at = int(find(nodes.read("hashes").astype(np.uint64), np.array([url_hash], np.uint64))[0])
    return None if at < 0 else int(nodes.read("ordinals", at, at + 1)[0])


def _linking(graph: Graph, source: int, home: int, node: int) -> list[tuple[int, int]]:
    """Return the nodes of the partition `source` that link to a node, and the number of links of each."""
    file = graph.blocks(source)
    block = read_block(file, home)
    at = int(np.searchsorted(block.rows, node))
    if at == len(block.rows) or block.rows[at] != node:
        return []
    end = block.starts[at + 1] if at + 1 < len(block.starts) else len(block.sources)
    linking = block.sources[block.starts[at] : end]
    return list(zip(linking.tolist(), file.read("degrees")[linking].tolist(), strict=True))


def _urls(
    store: Store, snapshot: Snapshot, graph: Graph, wanted: list[tuple[int, int]]
) -> dict[tuple[int, int], str]:
    """Return the URLs of nodes, found by their hashes: rows of the WebDB may have other numbers by now."""
    urls = dict.fromkeys(wanted, "a page that the WebDB has lost")
    for partition in {partition for partition, _ in wanted}:
        nodes = graph.nodes(partition)
        ordinals, hashes = nodes.read("ordinals"), nodes.read("hashes")
        mine = [one for home, one in wanted if home == partition]
        indices = {one: np.flatnonzero(ordinals == one) for one in mine}
        if lost := [one for one, found in indices.items() if not len(found)]:
            raise CorruptFile(nodes.name, 0, f"page {lost[0]} has links and no hash")
        numbers = {int(hashes[found[0]]): one for one, found in indices.items()}
        part = open_part(store, snapshot, partition)
        for block in part.blocks() if part else ():
            for key in block.keys:
                page = numbers.get(stable_hash(url_in_key(key)))
                if page is not None:
                    urls[partition, page] = url_of_key(key)
    return urls
