"""What tasks send each other makes up, with what they know themselves, the product of the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.rank.solve import halo
from crawlctl.tests.pipeline.rank.graphs import (
    graph,
    halos_of,
    parts_of,
    stage_of,
    uniform_teleport,
)


@settings(deadline=None)
@given(
    st.integers(1, 20).flatmap(
        lambda nodes: st.tuples(
            st.just(nodes),
            st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=80),
            st.lists(st.integers(0, 3), min_size=nodes, max_size=nodes),
        )
    ),
    st.sampled_from([0.0, 0.3, 1.0, 9.0]),
    st.integers(0, 2**32),
)
def test_a_sweep_over_what_arrives_is_a_step_of_the_whole_iteration(
    web: tuple[int, list[tuple[int, int]], list[int]], share: float, seed: int
) -> None:
    nodes, arcs, homes = web
    made, teleport = graph(nodes, arcs), uniform_teleport(nodes)
    parts = parts_of(made, np.array(homes), teleport)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(halo, "HALO_SHARE", share)
        halos = halos_of(parts)
    stage = stage_of(parts, halos)
    vector = np.random.default_rng(seed).random(nodes)
    whole = teleport + np.bincount(
        made.targets, (0.85 * vector / np.maximum(made.degrees, 1))[made.sources], nodes
    )
    sent = [
        sending.contribution(vector[part.nodes], part.shares)
        for part, sending in zip(parts, stage.sendings, strict=True)
    ]
    for part, chosen, matrix, layout in zip(parts, halos, stage.matrices, stage.layouts, strict=True):
        arrived = stage.arrived(sent, part.number)
        given_, ranks = np.split(layout.received(arrived, matrix.received_size), [len(matrix.shares)])
        owners = np.repeat(np.arange(len(parts)), np.diff(chosen.starts))
        there = [parts[task].nodes[node] for task, node in zip(owners, chosen.nodes, strict=True)]
        assert np.array_equal(ranks, vector[np.array(there, np.int64)])
        start = np.concatenate([vector[part.nodes], ranks])
        fixed = matrix.fixed(given_, ranks)
        swept = matrix.sweep(start, fixed, 1)
        assert np.allclose(swept, np.concatenate([whole[part.nodes], whole[np.array(there, np.int64)]]))
        plain = matrix.sweep(start, fixed, 1, plain=True)
        assert np.array_equal(plain, np.concatenate([swept[: matrix.nodes], ranks]))
