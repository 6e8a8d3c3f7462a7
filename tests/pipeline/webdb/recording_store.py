"""A store that remembers the files that were read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.store.local.store import LocalSource


class RecordingStore(LocalStore):
    """A folder as a store; `opened` holds the names of all files that were opened or read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.opened: list[str] = []

    def open(self, name: str) -> LocalSource:
        self.opened.append(name)
        return super().open(name)

    def _read(self, name: str, start: int, length: int | None) -> bytes:
        self.opened.append(name)
        return super()._read(name, start, length)
