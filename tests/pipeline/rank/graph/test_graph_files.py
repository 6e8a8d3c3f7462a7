from __future__ import annotations

from crawlctl.pipeline.rank.graph.graph_files import block_files, newest_states, node_files, solutions_for
from crawlctl.pipeline.state.manifest import FileEntry


def entry(name: str, partition: int, **counters: int) -> FileEntry:
    return FileEntry("graph", partition, name, 1, 1, "", counters)


def test_nodes_and_blocks_are_found_by_partition() -> None:
    nodes, blocks = entry("a", 3, nodes=5, members=4, seeds=0), entry("b", 3, arcs=0, linking=0)
    draft = entry("c", 3)
    assert node_files([draft, nodes, blocks]) == {3: nodes}
    assert block_files([draft, nodes, blocks]) == {3: blocks}


def test_the_last_state_of_a_task_counts_and_solutions_are_no_states() -> None:
    states = [
        entry(f"{task}-{number}", 0, state=task, round=number, solution=1)
        for number in (1, 2)
        for task in (0, 1)
    ]
    solutions = [entry("first", 0, solution=0, rounds=9), entry("second", 0, solution=1, rounds=7)]
    assert newest_states([*states, *solutions]) == {0: states[2], 1: states[3]}
    assert newest_states(solutions) == {}
    assert solutions_for(solutions, 1) == (solutions[1],)
