"""Reads the rows of several layers as one table, in key order; if several layers have a key, its newest row.

If no other layer has a key within the key range of a block, the block is passed on unchanged. So a large
layer below a small layer is read about as fast as alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import reduce
from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.sequencefile.block_body import Block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_ROWS = 4096
# if the lower layer has at least this many rows per row of the upper layer, rows are inserted one by one
_FEW = 16


def overlaid(layers: Sequence[Iterable[Block]]) -> Iterator[Block]:
    """Yield the rows of layers, the oldest first; a block has the offset of the oldest block in it."""
    nothing: Iterable[Block] = ()
    # The small new layers are merged first, and then laid over the large old layers.
    return iter(reduce(lambda above, below: _pair(below, above), reversed(layers), nothing))


def _pair(below: Iterable[Block], above: Iterable[Block]) -> Iterator[Block]:
    low, high = _Ahead(below), _Ahead(above)
    while low.block and high.block:
        if low.last < high.first:
            yield low.take(low.last)
        elif high.last < low.first:
            yield high.take(high.last)
        else:
            last = low.last
            rows = high.gathered(last)
            if high.block and high.first <= last:  # there are more rows than are gathered at once
                last = rows.keys[-1]
            yield _joined(low.take(last), rows)
    yield from low.rest()
    yield from high.rest()


class _Ahead:
    """The rows of a layer that were not taken yet, for one pass."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._blocks = iter(blocks)
        self._next()

    def _next(self) -> None:
        self.block = next((block for block in self._blocks if block.keys), None)
        self._start = 0

    @property
    def first(self) -> bytes:
        """The key of the next row."""
        return self.block.keys[self._start] if self.block else b""

    @property
    def last(self) -> bytes:
        """The last key of the block of the next row."""
        return self.block.keys[-1] if self.block else b""

    def take(self, last: bytes) -> Block:
        """Take the rows of the current block up to a key."""
        if self.block is None:
            return Block(0, [], [])
        block, start = self.block, self._start
        stop = bisect_right(block.keys, last, start)
        if stop == len(block.keys):
            self._next()
        else:
            self._start = stop
        return block if (start, stop) == (0, len(block.keys)) else block.slice(start, stop)

    def gathered(self, last: bytes) -> Block:
        """Take the rows of all blocks up to a key, but no more blocks after MAX_ROWS rows."""
        rows = self.take(last)
        while self.block and self.first <= last and len(rows.keys) < MAX_ROWS:
            more = self.take(last)
            rows = Block(rows.offset, rows.keys + more.keys, rows.values + more.values)
        return rows

    def rest(self) -> Iterator[Block]:
        """Yield all rows that are left."""
        while self.block is not None:
            yield self.take(self.last)


def _joined(below: Block, above: Block) -> Block:
    if not below.keys or not above.keys:
        return above if above.keys else below
    if len(above.keys) * _FEW > len(below.keys):
        rows = dict(zip(below.keys, below.values, strict=True))
        rows.update(zip(above.keys, above.values, strict=True))
        keys = sorted(rows)
        return Block(below.offset, keys, [rows[key] for key in keys])
    keys, values, row = below.keys.copy(), below.values.copy(), 0
    for key, value in zip(above.keys, above.values, strict=True):
        row = bisect_left(keys, key, row)
        if row < len(keys) and keys[row] == key:
            values[row] = value
        else:
            keys.insert(row, key)
            values.insert(row, value)
    return Block(below.offset, keys, values)
