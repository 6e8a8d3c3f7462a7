"""SortedLines: sorts lines in byte order, also if they do not fit into memory."""

from __future__ import annotations

from contextlib import ExitStack
from heapq import merge
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_HELD_BYTES = 32 << 20
# how many files are read at once; a process may often open only 256 files, and an export has three sorts
MOST_FILES = 64


class SortedLines:
    """Takes lines in any order and returns them sorted; a full buffer becomes a sorted file in a folder."""

    def __init__(self, folder: Path, held_bytes: int = _HELD_BYTES) -> None:
        self._folder = folder
        self._most = held_bytes
        self._lines: list[bytes] = []
        self._bytes = 0
        self._files: list[Path] = []
        self._written = 0  # the number of files so far, from which the next file gets its name

    def add(self, line: bytes) -> None:
        """Add a line, without a line end in it."""
        self._lines.append(line + b"\n")
        self._bytes += len(line) + 64  # 64: the bytes of the Python object beside its text
        if self._bytes >= self._most:
            self._write(sorted(self._lines))
            self._lines, self._bytes = [], 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield all lines in order, each with its line end."""
        while len(self._files) > MOST_FILES:
            some, self._files = self._files[:MOST_FILES], self._files[MOST_FILES:]
            self._write(_merged(some))
            for path in some:
                path.unlink()
        return _merged(self._files, sorted(self._lines))

    def _write(self, lines: Iterable[bytes]) -> None:
        path = self._folder / f"lines-{id(self):x}-{self._written}"
        with path.open("wb") as file:
            file.writelines(lines)
        self._files.append(path)
        self._written += 1


def _merged(paths: Iterable[Path], held: Iterable[bytes] = ()) -> Iterator[bytes]:
    """Yield the lines of sorted files and of a sorted list in order."""
    with ExitStack() as stack:
        yield from merge(*(stack.enter_context(path.open("rb")) for path in paths), held)
