"""A file held in memory, for tests and benchmarks that read formats from bytes."""

from __future__ import annotations


class BytesSource:
    """A RangedSource over bytes."""

    def __init__(self, data: bytes, name: str = "<memory>") -> None:
        self.name = name
        self.size = len(data)
        self._data = data

    def read(self, start: int, length: int) -> bytes:
        """Return `length` bytes from `start`, fewer only at the end of the data."""
        return self._data[start : start + length]
