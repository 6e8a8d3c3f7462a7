"""The files that a task writes once for all rounds: its halo, its matrix, the layout of its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.rank.graph.array_file import ArrayFile, write_arrays
from crawlctl.pipeline.rank.graph.sparse_blocks import Block
from crawlctl.pipeline.rank.solve.halo import Halo
from crawlctl.pipeline.rank.solve.sending import Layout, Sending
from crawlctl.pipeline.rank.solve.task_matrix import TaskMatrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

_FLOATS = ("shares", "teleport")
_OF_SENDING = ("picked", "seen", "rows", "places", "values_each", "ranks_each", "linked_each")
_OF_LAYOUT = ("rows", "places")


def write_halo(store: Store, halo: Halo, *, partition: int, round_number: int) -> FileEntry:
    """Write the halo of a task."""
    return _write(store, "halo", halo._asdict(), partition, round_number)


def read_halo(store: Store, entry: FileEntry) -> Halo:
    """Return the halo of a task."""
    return Halo(**_read(ArrayFile(store, entry), Halo._fields))


def write_layout(store: Store, layout: Layout, *, partition: int, round_number: int) -> FileEntry:
    """Write the layout of all messages to a task."""
    arrays = {name: getattr(layout, name) for name in _OF_LAYOUT} | _of_block("halo", layout.in_halo)
    return _write(store, "layout", arrays, partition, round_number)


def read_layout(store: Store, entry: FileEntry) -> Layout:
    """Return the layout of all messages to a task."""
    file = ArrayFile(store, entry)
    return Layout(**_read(file, _OF_LAYOUT), in_halo=_read_block(file, "halo"))


def write_matrix(
    store: Store, matrix: TaskMatrix, sending: Sending, *, partition: int, round_number: int
) -> FileEntry:
    """Write the matrix of a task, without the links between its own nodes, which the graph has."""
    arrays = {name: getattr(matrix, name) for name in _FLOATS}
    arrays |= {name: getattr(sending, name) for name in _OF_SENDING}
    arrays |= _of_block("to", matrix.to_halo) | _of_block("from", matrix.from_halo)
    arrays |= _of_block("sums", sending.sums) | _of_block("halo", sending.in_halo)
    return _write(store, "matrix", arrays, partition, round_number)


def read_matrix(
    store: Store, entry: FileEntry, own: Sequence[Block], nodes: int
) -> tuple[TaskMatrix, Sending]:
    """Return the matrix of a task with `nodes` nodes of its own, whose links are the blocks `own`."""
    file = ArrayFile(store, entry)
    shares, teleport = _read(file, _FLOATS).values()
    to_halo, from_halo, sums, in_halo = (_read_block(file, name) for name in ("to", "from", "sums", "halo"))
    matrix = TaskMatrix(nodes, shares, teleport, own, to_halo, from_halo)
    return matrix, Sending(sums, in_halo=in_halo, **_read(file, _OF_SENDING))


def _write(
    store: Store, what: str, arrays: dict[str, NDArray[Any]], partition: int, round_number: int
) -> FileEntry:
    packed = {
        name: array.astype(np.uint32) if array.dtype.kind == "i" else array for name, array in arrays.items()
    }
    return write_arrays(store, packed, partition=partition, round_number=round_number, facts={"what": what})


def _read(file: ArrayFile, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    found = ((name, file.read(name)) for name in names)
    return {name: array if array.dtype.kind == "f" else array.astype(np.int64) for name, array in found}


def _of_block(name: str, block: Block) -> dict[str, NDArray[Any]]:
    return {f"{name}.rows": block.rows, f"{name}.counts": block.counts, f"{name}.links": block.sources}


def _read_block(file: ArrayFile, name: str) -> Block:
    rows, counts, sources = _read(file, [f"{name}.rows", f"{name}.counts", f"{name}.links"]).values()
    return Block(rows, starts_of(counts), sources)
