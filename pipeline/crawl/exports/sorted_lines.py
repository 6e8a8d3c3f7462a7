"""SortedLines: lines in byte order, more of them than fit into memory."""

from __future__ import annotations

from contextlib import ExitStack
from heapq import merge
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HELD_BYTES = 32 << 20


class SortedLines:
    """Takes lines in any order and returns them sorted; a full buffer becomes a sorted file in a folder."""

    def __init__(self, folder: Path, held_bytes: int = _HELD_BYTES) -> None:
        self._folder = folder
        self._most = held_bytes
        self._lines: list[bytes] = []
        self._bytes = 0
        self._files: list[Path] = []

    def add(self, line: bytes) -> None:
        """Add a line, without a line end in it."""
        self._lines.append(line + b"\n")
        self._bytes += len(line) + 64  # bytes of the Python object
        if self._bytes >= self._most:
            self._spill()

    def __iter__(self) -> Iterator[bytes]:
        """Yield all lines in order, each with its line end."""
        with ExitStack() as stack:
            files = [stack.enter_context(path.open("rb")) for path in self._files]
            yield from merge(*files, sorted(self._lines))

    def _spill(self) -> None:
        path = self._folder / f"lines-{id(self):x}-{len(self._files)}"
        with path.open("wb") as file:
            file.writelines(sorted(self._lines))
        self._files.append(path)
        self._lines, self._bytes = [], 0
