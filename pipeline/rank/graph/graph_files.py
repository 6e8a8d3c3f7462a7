"""The files of kind `graph`, and how their contents are known without opening them.

    nodes      the nodes of a partition (nodes.py)
    blocks     the links of a partition (build.py)
    draft      its links before their targets are found; read by the graph job only
    solution   the ranks of the partitions of one task, for one teleport
    state      what a task needs to continue its iteration
    incoming   the meaning of the numbers in the messages to a task; the states refer to it

A snapshot keeps only nodes and blocks. A counter in the manifest says which of these contents a file has, so
that no file must be opened for it. Only this module knows which counter stands for which contents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.state.manifest import FileEntry

# Counters of files with nodes.
NODES = "nodes"
MEMBERS = "members"
SEED_NODES = "seeds"
# Counters of files with blocks.
ARCS = "arcs"
LINKING = "linking"  # nodes that have links
# Counters of solutions, and the last of states too.
ROUNDS = "rounds"
TELEPORT = "solution"  # the index of the teleport
# Counters of states.
TASK = "state"  # the index of the task
ROUND = "round"


def node_files(entries: Iterable[FileEntry]) -> dict[int, FileEntry]:
    """Return the files with nodes, by partition."""
    return {entry.partition: entry for entry in entries if NODES in entry.counters}


def block_files(entries: Iterable[FileEntry]) -> dict[int, FileEntry]:
    """Return the files with blocks, by partition."""
    return {entry.partition: entry for entry in entries if ARCS in entry.counters}


def newest_states(entries: Iterable[FileEntry]) -> dict[int, FileEntry]:
    """Return the last state of each task, by task; the states of a task come in the order of their rounds."""
    return {entry.counters[TASK]: entry for entry in entries if TASK in entry.counters}


def solutions_for(entries: Sequence[FileEntry], teleport: int) -> tuple[FileEntry, ...]:
    """Return the solutions for one teleport."""
    return tuple(entry for entry in entries if entry.counters[TELEPORT] == teleport)
