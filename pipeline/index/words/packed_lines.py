"""PackedLines: the lines of a block, which are split only when many of them are needed.

A process that completes one search needs a few lines of each table. Splitting all lines of a large crawl's
titles would take half of its time.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, cast

from isal import isal_zlib

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.words.checked_blocks import RAW_DEFLATE_BITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BREAK = b"\n"
# bytes per window: line breaks are counted per window, and a line is searched in one window
_WINDOW = 1 << 10
_FEW = 50  # look-ups, more than one completion needs; after this number all lines are split
_IgzipError = cast("type[Exception]", isal_zlib.error)  # its type stub declares the class as an instance


class PackedLines:
    """The lines of a block, in UTF-8; damage is a CorruptFile."""

    def __init__(self, block: bytes, count: int, name: str) -> None:
        self._block = block
        self._count = count
        self._name = name
        self._asked = 0

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> bytes:
        """Return a line by its number from 0."""
        if self._is_split():
            return self._lines[index]
        if not 0 <= index < self._count:
            raise IndexError(index)
        start = self._start_of(index)
        end = self._data.find(_BREAK, start)
        return self._data[start:] if end < 0 else self._data[start:end]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._lines)

    def first_from(self, wanted: bytes) -> int:
        """Return the number of the first line that is not less than `line`; lines are in byte order."""
        if self._is_split():
            return bisect_left(self._lines, wanted)
        if not self._count:
            return 0
        data, low, high = self._data, 0, len(self._data)
        while low < high:
            middle = (low + high) // 2
            start = data.rfind(_BREAK, low, middle) + 1 or low
            end = data.find(_BREAK, middle)
            end = len(data) if end < 0 else end
            if data[start:end] < wanted:
                low = end + 1
            else:
                high = start
        at = self._count if low > len(data) else data.count(_BREAK, 0, low)
        if at > self._count:
            raise self._miscounted(at)
        # An empty last line begins where the bytes end.
        return at + 1 if at == self._count - 1 and low == len(data) and self[at] < wanted else at

    def _is_split(self) -> bool:
        self._asked += 1
        return self._asked > _FEW

    def _start_of(self, index: int) -> int:
        """Return where a line begins: behind the line break that ends the line before it."""
        window = bisect_left(self._breaks, index)
        seen = self._breaks[window - 1] if window else 0
        at = window * _WINDOW
        for _ in range(index - seen):
            at = self._data.index(_BREAK, at) + 1
        return at if index else 0

    @cached_property
    def _data(self) -> bytes:
        try:
            data: bytes = isal_zlib.decompress(self._block, RAW_DEFLATE_BITS)
        except _IgzipError as err:
            raise CorruptFile(self._name, 0, f"its lines cannot be inflated ({err})") from err
        return data

    @cached_property
    def _breaks(self) -> Sequence[int]:
        """The number of line breaks up to the end of each window."""
        count, size = self._data.count, len(self._data)
        found = list(accumulate(count(_BREAK, at, at + _WINDOW) for at in range(0, size, _WINDOW))) or [0]
        if found[-1] + 1 != self._count:
            raise self._miscounted(found[-1] + 1)
        return found

    @cached_property
    def _lines(self) -> list[bytes]:
        lines = self._data.split(_BREAK) if self._count else []
        if len(lines) != self._count:
            raise self._miscounted(len(lines))
        return lines

    def _miscounted(self, found: int) -> CorruptFile:
        return CorruptFile(self._name, 0, f"it has {found} lines where {self._count} should be")
