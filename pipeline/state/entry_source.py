"""EntrySource: a file of a manifest as a source of ranged reads, opened without a request to the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


class EntrySource:
    """A file whose size is known from its manifest, so that opening it sends no request to the store."""

    def __init__(self, store: Store, entry: FileEntry) -> None:
        self.name = store.locate(entry.name)
        self.size = entry.bytes
        self._store = store
        self._stored_name = entry.name

    def read(self, start: int, length: int) -> bytes:
        """Return `length` bytes from `start`, fewer only at the end of the file."""
        return self._store.read(self._stored_name, start, max(0, min(length, self.size - start)))
