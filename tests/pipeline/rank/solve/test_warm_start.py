"""The last ranks of the nodes of a new graph, where there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from crawlctl.pipeline.rank.graph.array_file import write_arrays
from crawlctl.pipeline.rank.graph.graph_files import NODES
from crawlctl.pipeline.rank.graph.nodes import MEMBER, member_arrays, write_nodes
from crawlctl.pipeline.rank.graph.stored_graph import Graph, TaskNodes
from crawlctl.pipeline.rank.order import IterateOrder, Teleport
from crawlctl.pipeline.rank.solve.warm_start import TOTALS, last_solution
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats
    from crawlctl.pipeline.state.manifest import FileEntry

PARTITION, TOTAL = 0, 4.0


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


def nodes_of(store: LocalStore, hashes: Sequence[int], partition: int = PARTITION) -> FileEntry:
    """Write nodes in the order of their URLs, which is not that of their hashes."""
    found = member_arrays(np.array(hashes, np.uint64), np.arange(len(hashes)), 1)
    flags = {"flags": np.full(len(hashes), MEMBER, np.uint8)}
    return write_nodes(store, flags | found, [], partition=partition, round_number=1)


def ranks_of(store: LocalStore, ranks: Sequence[float], **facts: object) -> FileEntry:
    arrays = {"ranks": np.array(ranks), "scores": np.array(ranks)[::-1]}
    return write_arrays(store, arrays, partition=PARTITION, round_number=1, facts=facts)


def found(
    store: LocalStore,
    graph: FileEntry,
    last_nodes: tuple[FileEntry, ...],
    last_ranks: tuple[FileEntry, ...],
    teleport: int = 0,
) -> Floats | None:
    order = IterateOrder(
        store=store.uri,
        round=2,
        files=(graph,),
        tasks=((0, 1),),
        teleports=(Teleport("uniform"), Teleport("seed")),
        damping=0.85,
        tolerance=1e-6,
        last_nodes=last_nodes,
        last_ranks=last_ranks,
    )
    return last_solution(store, order, TaskNodes(Graph(store, (graph,)), (0, 1)), teleport)


def test_ranks_are_found_by_url_in_the_scale_of_the_solution(store: LocalStore) -> None:
    last = (nodes_of(store, [9, 3, 7]),), (ranks_of(store, [0.5, 0.3, 0.2], **{TOTALS: [TOTAL, 2.0]}),)
    graph = nodes_of(store, [5, 7, 9])
    ranks = found(store, graph, *last)
    assert ranks is not None and ranks.tolist() == [0.0, 0.2 * TOTAL, 0.5 * TOTAL], "5 is new"
    scores = found(store, graph, *last, teleport=1)
    assert scores is not None and scores.tolist() == [0.0, 0.5 * 2, 0.2 * 2]
    assert found(store, graph, *last, teleport=2) is None


def test_without_usable_ranks_there_is_no_start(store: LocalStore) -> None:
    graph = nodes_of(store, [5, 7, 9])
    nodes, ranks = nodes_of(store, [9, 3, 7]), ranks_of(store, [0.5, 0.3, 0.2], **{TOTALS: [TOTAL, TOTAL]})
    elsewhere = replace(ranks, partition=1), replace(nodes, partition=1)
    assert found(store, graph, (), ()) is None
    assert found(store, graph, (nodes,), ()) is None
    assert found(store, graph, (nodes,), (elsewhere[0],)) is None, "of another partition"
    assert found(store, graph, (elsewhere[1],), (elsewhere[0],)) is None
    assert found(store, graph, (nodes,), (ranks_of(store, [0.5, 0.3, 0.2]),)) is None, "of an older release"
    assert found(store, graph, (nodes_of(store, [9, 3]),), (ranks,)) is None, "of another graph"
    assert found(store, nodes_of(store, [1, 2]), (nodes,), (ranks,)) is None, "of other URLs"
    assert nodes.counters[NODES] == 3
