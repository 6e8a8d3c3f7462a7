"""Which nodes of other tasks a task computes along with its own."""

from __future__ import annotations

import numpy as np
import pytest

from crawlctl.pipeline.rank.graph.stored_graph import BYTES_PER_ARC, BYTES_PER_NODE
from crawlctl.pipeline.rank.solve import halo
from crawlctl.tests.pipeline.rank.graphs import graph, halos_of, parts_of, random_arcs, uniform_teleport


def test_the_halo_has_the_nodes_that_exchange_most_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nodes 4 to 7 are another task's: 4 only gives, 5 takes all that 0 gives, 6 a third of what 1 gives.
    web = graph(8, [(4, 0), (0, 5), (5, 0), (1, 6), (1, 2), (1, 3), (6, 1), (2, 7)])
    parts = parts_of(web, np.arange(8) // 4, uniform_teleport(8))
    room = (2 * BYTES_PER_ARC + 2 * BYTES_PER_NODE) / (7 * BYTES_PER_ARC + 4 * BYTES_PER_NODE)
    monkeypatch.setattr(halo, "HALO_SHARE", room + 0.05)
    chosen, _ = halos_of(parts)
    assert chosen.of(1).tolist() == [1, 2], "numbers in their own task"
    assert chosen.of(0).tolist() == []
    assert chosen.shares.tolist() == [0.85, 0.85]
    monkeypatch.setattr(halo, "HALO_SHARE", 9.0)
    assert halos_of(parts)[0].of(1).tolist() == [0, 1, 2], "but none that gives the task nothing"


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_a_halo_stays_within_its_share_of_the_memory(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halo, "HALO_SHARE", share)
    parts = parts_of(graph(200, random_arcs(200, 1500, 7)), np.arange(200) % 5, uniform_teleport(200))
    for part, chosen in zip(parts, halos_of(parts), strict=True):
        links = sum(len(block.sources) for block in part.outgoing)
        seen = sum(np.isin(block.sources, chosen.of(task)).sum() for task, block in enumerate(part.incoming))
        needed = BYTES_PER_ARC * seen + BYTES_PER_NODE * len(chosen.nodes)
        assert needed <= share * (BYTES_PER_ARC * links + BYTES_PER_NODE * len(part.nodes))
        assert bool(len(chosen.nodes)) == bool(share)
