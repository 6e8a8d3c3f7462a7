"""A window over a file: one large ranged read, so that small steps through the file cost no requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile

if TYPE_CHECKING:
    from crawlctl.pipeline.formats.source import RangedSource

READ_AHEAD = 4 << 20
_STEP = 64 << 10  # bytes read at once behind the horizon, where the caller is expected to stop soon


class Window:
    """Returns any bytes of a source; holds the bytes of its last read.

    It reads ahead up to the offset `horizon`; behind that offset it reads little more than is asked for.
    """

    def __init__(self, source: RangedSource, horizon: int, read_ahead: int = READ_AHEAD) -> None:
        self.name = source.name
        self.size = source.size
        self._source = source
        self._horizon = horizon
        self._read_ahead = read_ahead
        self._start = 0
        self._data = b""

    def take(self, start: int, length: int) -> memoryview:
        """Return exactly `length` bytes from `start`; a file that ends before is damaged."""
        low = start - self._start
        if low < 0 or low + length > len(self._data):
            if length > self.size - start:
                raise CorruptFile(self.name, start, f"{length} bytes are missing at the end of the file")
            self._move(start, length)
            low = 0
        return memoryview(self._data)[low : low + length]

    def _move(self, start: int, length: int) -> None:
        """Make the window begin at `start` and hold `length` bytes or more."""
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
