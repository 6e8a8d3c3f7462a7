"""A source seen through one large ranged read, so that small steps through a file cost no requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.vint import MAX_VINT_BYTES, decode_vint

if TYPE_CHECKING:
    from crawlctl.pipeline.formats.source import RangedSource

READ_AHEAD = 4 << 20
_STEP = 64 << 10  # what we read at once where we do not expect to go on


class Window:
    """Any bytes of a source; reads ahead up to `horizon`, and beyond it only what is needed."""

    def __init__(self, source: RangedSource, horizon: int, read_ahead: int = READ_AHEAD) -> None:
        self.name = source.name
        self.size = source.size
        self._source = source
        self._horizon = horizon
        self._read_ahead = read_ahead
        self._start = 0
        self._data = b""

    def take(self, start: int, length: int) -> memoryview:
        """Return exactly these bytes; a file that ends before is damaged."""
        low = start - self._start
        if low < 0 or low + length > len(self._data):
            if length > self.size - start:
                raise CorruptFile(self.name, start, f"{length} bytes are missing at the end of the file")
            low = self._move(start, length)
        return memoryview(self._data)[low : low + length]

    def vint(self, start: int) -> tuple[int, int]:
        """Return the variable-length integer at `start` and the offset behind it."""
        data = self.take(start, min(MAX_VINT_BYTES, max(1, self.size - start)))
        try:
            value, width = decode_vint(data)
        except ValueError as err:
            raise CorruptFile(self.name, start, str(err)) from err
        return value, start + width

    def find(self, pattern: bytes, start: int, stop: int) -> int:
        """Return the first offset in [start, stop) where `pattern` lies, or -1."""
        end = min(stop + len(pattern) - 1, self.size)
        while start + len(pattern) <= end:
            low = start - self._start
            if low < 0 or low + len(pattern) > len(self._data):
                low = self._move(start, len(pattern))
            found = self._data.find(pattern, low, end - self._start)
            if found >= 0:
                return self._start + found
            start = self._start + len(self._data) - len(pattern) + 1
        return -1

    def _move(self, start: int, length: int) -> int:
        """Make the window begin at `start` and hold `length` bytes or more; return where `start` is in it."""
        low = start - self._start
        kept = self._data[low:] if 0 <= low < len(self._data) else b""
        ahead = min(self._read_ahead, self._horizon - start if start < self._horizon else _STEP)
        wanted = min(max(length, ahead), self.size - start)
        fresh = self._source.read(start + len(kept), wanted - len(kept))
        if len(kept) + len(fresh) < length:
            raise CorruptFile(
                self.name, start, f"the file is shorter than the {self.size} bytes it should have"
            )
        self._start, self._data = start, kept + fresh
        return 0
