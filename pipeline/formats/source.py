"""What a format is read from: a name, a size, and any range of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path


class RangedSource(Protocol):
    """A file of known size, in a store or on local disk, that can be read at any offset."""

    @property
    def name(self) -> str:
        """The name that errors give for it."""

    @property
    def size(self) -> int:
        """Its length in bytes."""

    def read(self, start: int, length: int) -> bytes:
        """Return `length` bytes from `start`, fewer only at the end of the file."""


class PathSource:
    """A file on local disk. It is opened for each read, so that callers need not close it."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self.size = path.stat().st_size
        self._path = path

    def read(self, start: int, length: int) -> bytes:
        """Return `length` bytes from `start`, fewer only at the end of the file."""
        with self._path.open("rb") as file:
            file.seek(start)
            return file.read(length)


class HeldBytes:
    """Bytes in memory, for example a range of a file that was read at once."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.size = len(data)
        self._data = data

    def read(self, start: int, length: int) -> bytes:
        """Return `length` bytes from `start`, fewer only at the end."""
        return self._data[start : start + length]
