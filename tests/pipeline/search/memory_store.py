"""A store in memory that counts what is asked of it."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from crawlctl.pipeline.store.base import Store, StoredFile, missing
from crawlctl.pipeline.store.writer import StoreWriter
from crawlctl.tests.bytes_source import BytesSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.formats.source import RangedSource


class MemoryStore(Store):
    """A dictionary of files."""

    def __init__(self) -> None:
        super().__init__("memory")
        self.files: dict[str, bytes] = {}
        self.times: dict[str, float] = {}  # of files that were changed by hand
        self.looks = 0  # at sizes, which a remote store is asked for too
        self.reads: list[tuple[str, int, int]] = []
        self._lock = Lock()

    def size(self, name: str) -> int:
        self.looks += 1
        return len(self.files[name])

    def open(self, name: str) -> RangedSource:
        self.looks += 1
        return BytesSource(self.files[name], self.locate(name))

    def create(self, name: str, data: bytes) -> bool:
        return self.files.setdefault(name, data) == data

    def sweep(self, folder: str, before: float, *, dry_run: bool = False) -> tuple[StoredFile, ...]:
        return ()

    def _read(self, name: str, start: int, length: int | None) -> bytes:
        if name not in self.files:
            raise missing(self.locate(name))
        data = self.files[name][start : None if length is None else start + length]
        with self._lock:
            self.reads.append((name, start, len(data)))
        return data

    def _sink(self, name: str) -> StoreWriter:
        return _Sink(name, self)

    def _list(self, prefix: str) -> Iterator[StoredFile]:
        return (
            StoredFile(name, len(data), self.times.get(name, 0.0))
            for name, data in sorted(self.files.items())
            if name.startswith(prefix)
        )

    def _delete(self, names: Iterable[str]) -> None:
        for name in names:
            self.files.pop(name, None)


class _Sink(StoreWriter):
    def __init__(self, name: str, store: MemoryStore) -> None:
        super().__init__(name, 1 << 20)
        self._store = store
        self._chunks: list[bytes] = []

    def _send(self, chunk: bytes) -> None:
        self._chunks.append(bytes(chunk))

    def _finish(self, last: bytes) -> None:
        self._store.files[self.name] = b"".join(self._chunks) + bytes(last)

    def discard(self) -> None:
        self.close()
