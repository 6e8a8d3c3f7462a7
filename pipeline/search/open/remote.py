"""Reads the files of a snapshot in a remote store for queries, with as few requests as possible.

The sizes of files are known from the snapshot, so opening a file needs no request. What every query needs is
in the compound file, which is read whole. Of other files only the requested ranges are read, and no range
twice: a thread that needs a range which another thread is reading waits for it. All ranges are kept on disk.
So a later query waits twice: for its posting lists (and at the same time for a newer snapshot), then for the
documents it shows. Only if the dictionary is too large for the compound file, it first waits for blocks of
the dictionary.

Snapshots of earlier versions have no compound file. There, small files are read whole, all at once.
"""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile, MissingFile, StoreError
from crawlctl.pipeline.formats.sequencefile.mapfile import HEADER_BYTES
from crawlctl.pipeline.index.segment.compound_file import CompoundFile
from crawlctl.pipeline.search.evaluate.lru import LruCache
from crawlctl.pipeline.search.open.disk_cache import DiskCache
from crawlctl.pipeline.state.entry_source import EntrySource
from crawlctl.pipeline.state.kinds import COMPOUND, DELETED, DICTIONARY, GROUPS, PRIORS, RULES
from crawlctl.pipeline.state.layout import DATA, INDEX
from crawlctl.pipeline.store.base import Store, missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import StoredFile
    from crawlctl.pipeline.store.parallel_reads import ParallelReads
    from crawlctl.pipeline.store.writer import StoreWriter

WHOLE_BYTES = 4 << 20  # a larger file is never read whole

_SIDE_KINDS = frozenset({DELETED, GROUPS, PRIORS, RULES})
_MEMORY_BYTES = 16 << 20  # the limit of memory for ranges that were read


class RemoteFiles(Store):
    """The files of one snapshot as a store that can only be read."""

    def __init__(self, store: Store, entries: Iterable[FileEntry], cache: Path | None) -> None:
        super().__init__(store.uri)
        self._remote = store
        self._entries = {entry.name: entry for entry in entries}
        self._cache = DiskCache(cache, store.uri)
        self._compound: CompoundFile | None = None
        self._ranges: LruCache[tuple[str, int, int], bytes] = LruCache(_MEMORY_BYTES)
        self._locks: dict[tuple[str, int, int], Lock] = {}
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

    def read_ahead(self, parallel: ParallelReads, compound: bytes | None = None) -> None:
        """Read what every query needs, all at once; `compound` is the compound file, if it is read already.

        A missing or damaged compound file is ignored, because it has only copies.
        """
        for entry in self._entries.values():
            if entry.kind == COMPOUND:
                with suppress(CorruptFile, MissingFile):
                    data = self._stored_range(entry.name, 0, entry.bytes) if compound is None else compound
                    self._compound = CompoundFile(data, self.locate(entry.name))
        heads = [(entry.name, _head_bytes(entry)) for entry in self._entries.values()]
        parallel.map(lambda head: self.read(head[0], 0, head[1]), [head for head in heads if head[1]])

    def close(self) -> None:
        """Bring the disk cache back to its limit."""
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
        copied = self._compound.find(name, start, end - start) if self._compound is not None else None
        if copied is not None:
            return copied
        if _comes_whole(entry):
            return self._range(name, 0, entry.bytes)[start:end]
        return self._range(name, start, end - start)

    def _range(self, name: str, start: int, length: int) -> bytes:
        key = (name, start, length)
        with self._lock:
            lock = self._locks.setdefault(key, Lock())
        with lock:  # if several threads need the range, one of them reads it
            data = self._ranges.get(key)
            if data is None:
                data = self._stored_range(name, start, length)
                self._ranges.put(key, data, len(data))
        self._locks.pop(key, None)
        return data

    def _stored_range(self, name: str, start: int, length: int) -> bytes:
        data = self._cache.get(name, start, length)
        if data is None:
            data = self._remote.read(name, start, length)
            if len(data) == length:
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
    is_index = entry.kind == DICTIONARY and entry.name.endswith(f"/{INDEX}")
    return entry.bytes <= WHOLE_BYTES and (entry.kind in _SIDE_KINDS or is_index)


def _head_bytes(entry: FileEntry) -> int:
    """Return how many bytes of a file every query needs: all, the header of a MapFile, or none."""
    if _comes_whole(entry):
        return entry.bytes
    is_data = entry.kind == DICTIONARY and entry.name.endswith(f"/{DATA}")
    return min(HEADER_BYTES, entry.bytes) if is_data else 0
