"""The due rows of a part, the most important first, as fetch/select/selection.py orders them.

Each layer has two lists: the rows that were due when the layer was written, in this order, and the other
rows, by due time. Those of the other rows that are due by now are brought into this order here. The lists of
all layers are merged. For a caller that wants a few rows, only the beginnings of the lists are read, and a
block per row.
"""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.webdb.extract.extract_file import first_to_fetch

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

    from numpy.typing import NDArray

    from crawlctl.pipeline.webdb.extract.extract_file import Hashes, LayerExtract, Numbers
    from crawlctl.pipeline.webdb.extract.part_extract import PartExtract

    DueRow = tuple[float, int, int, bytes, bytes]  # score, minus depth, minus due time, key, packed entry

_FIRST_ROWS, _MOST_ROWS = 256, 1 << 14  # rows of a list that are read at once


class _Columns(NamedTuple):
    """Some rows of a layer and what decides their order."""

    rows: Numbers
    hashes: Hashes
    scores: NDArray[np.float64]
    depths: Numbers
    dues: Numbers

    def taken(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> _Columns:
        rows, hashes, scores, depths, dues = self
        return _Columns(rows[chosen], hashes[chosen], scores[chosen], depths[chosen], dues[chosen])


def best_due_rows(extract: PartExtract, now: int, full_hosts: Set[bytes] | None = None) -> Iterator[DueRow]:
    """Yield the rows that are due, the first to fetch first.

    Rows of hosts in `full_hosts` are left out. The caller may add hosts while it takes rows.
    """
    lists = [
        _rows_of(extract, number, columns, full_hosts)
        for number, layer in enumerate(extract.layers)
        for columns in (_ready(layer, now), _later(layer, now))
    ]
    return merge(*lists, reverse=True)


def _rows_of(
    extract: PartExtract, layer: int, lists: Iterator[_Columns], full_hosts: Set[bytes] | None
) -> Iterator[DueRow]:
    hosts = None if full_hosts is None else _HostsOfRows(extract.layers[layer], full_hosts)
    for columns in lists:
        left = columns.taken(~extract.has(columns.hashes, layer + 1))
        if hosts is not None:
            left = left.taken(hosts.have_room(left.rows))
        plain = (column.tolist() for column in (left.rows, left.scores, left.depths, left.dues))
        for row, score, depth, due in zip(*plain, strict=True):
            if hosts is None or hosts.has_room(row):
                yield score, -depth, -due, *extract.row(layer, row)


def _ready(layer: LayerExtract, now: int) -> Iterator[_Columns]:
    """Yield the rows that were due when the layer was written, some at a time."""
    start, count = 0, _FIRST_ROWS
    while start < layer.ready:
        stop = min(start + count, layer.ready)
        columns = _columns(layer, start, stop, layer.read("ready_dues", start, stop))
        yield columns.taken(columns.dues <= now)  # all, unless the clock was set back
        start, count = stop, min(2 * count, _MOST_ROWS)


def _later(layer: LayerExtract, now: int) -> Iterator[_Columns]:
    """Yield the rows that have fallen due since, all at once."""
    dues = layer.whole("dues")
    stop = int(np.searchsorted(dues, now, "right"))
    if stop > layer.ready:
        columns = _columns(layer, layer.ready, stop, dues[layer.ready : stop])
        yield columns.taken(first_to_fetch(columns.scores, columns.depths, columns.dues, columns.rows))


def _columns(layer: LayerExtract, start: int, stop: int, dues: NDArray[np.uint32]) -> _Columns:
    names = ("rows", "hashes", "scores", "depths")
    rows, hashes, scores, depths = (layer.read(name, start, stop) for name in names)
    return _Columns(rows.astype(np.int64), hashes, scores, depths.astype(np.int64), dues.astype(np.int64))


class _HostsOfRows:
    """Tells of which rows of a layer the hosts are not full yet."""

    def __init__(self, layer: LayerExtract, full_hosts: Set[bytes]) -> None:
        self._names = layer.host_names
        self._firsts = layer.read("host_rows")
        self._full_hosts = full_hosts

    def has_room(self, row: int) -> bool:
        """Return whether the host of a row is not full."""
        host = int(self._firsts.searchsorted(row, "right")) - 1
        return not self._full_hosts or self._names[host] not in self._full_hosts

    def have_room(self, rows: Numbers) -> NDArray[np.bool_]:
        """Return for each row whether its host is not full."""
        room = np.array([name not in self._full_hosts for name in self._names], np.bool_)
        found: NDArray[np.bool_] = room[self._firsts.searchsorted(rows, "right") - 1]
        return found
