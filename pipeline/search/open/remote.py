"""Reads the files of a snapshot in a remote store for queries, with as few requests as possible.

The sizes of files are known from the snapshot, so opening a file needs no request. Small files that every
query needs (sparse indexes, columns, tombstones, priors) are read whole; of other files the ranges asked for
are read. Both are kept on disk. A later query then waits for three requests, one after the other: for blocks
of the dictionary (and at the same time for a newer snapshot), for posting lists, and for the documents it
shows.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.search.open.disk_cache import DiskCache
from crawlctl.pipeline.state.entry_source import EntrySource
from crawlctl.pipeline.state.kinds import DELETED, GROUPS, PRIORS
from crawlctl.pipeline.store.base import Store, missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import StoredFile
    from crawlctl.pipeline.store.writer import StoreWriter

WHOLE_BYTES = 4 << 20  # a larger file is never read whole

_WHOLE_KINDS = frozenset({DELETED, GROUPS, PRIORS})
_WHOLE_PARTS = ("/index", "/columns")


class RemoteFiles(Store):
    """The files of one snapshot as a store that can only be read."""

    def __init__(self, store: Store, entries: Iterable[FileEntry], cache: Path | None) -> None:
        super().__init__(store.uri)
        self._remote = store
        self._entries = {entry.name: entry for entry in entries}
        self._cache = None if cache is None else DiskCache(cache, store.uri)
        self._whole: dict[str, bytes] = {}
        self._locks: dict[str, Lock] = {}
        self._lock = Lock()

    def locate(self, name: str) -> str:
        """Return the name of a file for messages."""
        return self._remote.locate(name)

    def size(self, name: str) -> int:
        """Return the length of a file in bytes."""
        return self._entry(name).bytes

    def open(self, name: str) -> EntrySource:
        """Return a file for ranged reads."""
        return EntrySource(self, self._entry(name))

    def close(self) -> None:
        """Bring the disk cache back to its limit."""
        if self._cache is not None:
            self._cache.trim()

    def _entry(self, name: str) -> FileEntry:
        entry = self._entries.get(name)
        if entry is None:
            raise missing(self.locate(name))
        return entry

    def _read(self, name: str, start: int, length: int | None) -> bytes:
        entry = self._entry(name)
        end = entry.bytes if length is None else min(entry.bytes, start + length)
        if start >= end:
            return b""
        if _comes_whole(entry):
            return self._read_whole(entry)[start:end]
        return self._range(name, start, end - start)

    def _read_whole(self, entry: FileEntry) -> bytes:
        with self._lock:
            lock = self._locks.setdefault(entry.name, Lock())
        with lock:  # if several threads need the file, one of them reads it
            data = self._whole.get(entry.name)
            if data is None:
                data = self._whole[entry.name] = self._range(entry.name, 0, entry.bytes)
            return data

    def _range(self, name: str, start: int, length: int) -> bytes:
        data = self._cache.get(name, start, length) if self._cache is not None else None
        if data is None:
            data = self._remote.read(name, start, length)
            if self._cache is not None and len(data) == length:
                self._cache.put(name, start, data)
        return data

    def create(self, name: str, data: bytes) -> bool:
        """Refuse: a snapshot is read only."""
        raise self._read_only()

    def sweep(self, folder: str, before: float, *, dry_run: bool = False) -> tuple[StoredFile, ...]:
        """Refuse: a snapshot is read only."""
        raise self._read_only()

    def _sink(self, name: str) -> StoreWriter:
        raise self._read_only()

    def _list(self, prefix: str) -> Iterator[StoredFile]:
        raise self._read_only()

    def _delete(self, names: Iterable[str]) -> None:
        raise self._read_only()

    def _read_only(self) -> StoreError:
        return StoreError(f"{self.uri} is open for reading one snapshot; use the store itself to change it")


def _comes_whole(entry: FileEntry) -> bool:
    is_small = entry.bytes <= WHOLE_BYTES
    return is_small and (entry.kind in _WHOLE_KINDS or entry.name.endswith(_WHOLE_PARTS))
