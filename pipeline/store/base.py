"""What a store is: named files that never change, and one call in which a single writer wins.

A backend needs ranged reads, whole and streamed writes, listing, deletion, and create-if-absent, the only
thing that has to be atomic: snapshots and leases are built on that alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.errors import MissingFile, StoreError
from crawlctl.pipeline.store.file_names import check_name, check_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.store.writer import StoreWriter


class StoredFile(NamedTuple):
    """What a listing tells of a file; `modified` is in seconds since 1970 by the clock of the store."""

    name: str
    bytes: int
    modified: float


class Store(ABC):
    """A place for the files of one crawl.

    Names follow names.py; a name is used for one file only. A store may be used by several threads, and after
    a fork by parent and child.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri

    def locate(self, name: str) -> str:
        """Return what to call a file towards the user."""
        return f"{self.uri}/{name}"

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """Return `length` bytes from `start` (all without one), fewer only at the end of the file."""
        check_name(name)
        if start < 0 or (length is not None and length < 0):
            raise ValueError(f"{name}: no bytes lie at {start} with length {length}")
        return b"" if length == 0 else self._read(name, start, length)

    def put(self, name: str, data: bytes) -> None:
        """Write a small file as a whole; one of that name with other content is an error."""
        if not self.create(name, data):
            raise exists_already(self.locate(name))

    @contextmanager
    def write(self, name: str) -> Iterator[StoreWriter]:
        """Open a new file for writing; it exists, durably, after a clean exit, and not after an exception."""
        sink = self._sink(check_name(name))
        try:
            yield sink
            sink.commit()
        except BaseException:  # Ctrl-C too
            sink.discard()
            raise

    def list(self, prefix: str = "") -> Iterator[StoredFile]:
        """List the files whose names begin with a prefix, in byte order of the names."""
        return self._list(check_prefix(prefix))

    def delete(self, names: Iterable[str]) -> None:
        """Delete files; those that are gone already are fine."""
        self._delete(map(check_name, names))

    @abstractmethod
    def size(self, name: str) -> int:
        """Return the length of a file in bytes."""

    @abstractmethod
    def open(self, name: str) -> RangedSource:
        """Look a file up once and return it for ranged reads."""

    @abstractmethod
    def create(self, name: str, data: bytes) -> bool:
        """Write a small file as a whole unless the name is taken; return whether it holds this data now.

        Of several writers one wins. Data must be unique to the writer where that matters: when the answer of
        a store is lost, the only way to know who won is to look whose bytes are there.
        """

    def keep_spare(self, folder: str) -> None:  # noqa: B027 - only a disk needs it
        """Keep some room back in a folder where the store is a disk that may fill up (local/spare.py)."""

    def create_from_spare(self, name: str, data: bytes) -> bool:
        """Write a small file as `create` does, in the room that was kept back in its folder."""
        return self.create(name, data)

    @abstractmethod
    def sweep(self, folder: str, before: float, *, dry_run: bool = False) -> tuple[StoredFile, ...]:
        """Remove what writers that died before a time left half-made in a top folder, and return it."""

    @abstractmethod
    def _read(self, name: str, start: int, length: int | None) -> bytes: ...

    @abstractmethod
    def _sink(self, name: str) -> StoreWriter: ...

    @abstractmethod
    def _list(self, prefix: str) -> Iterator[StoredFile]: ...

    @abstractmethod
    def _delete(self, names: Iterable[str]) -> None: ...


class RemoteFile:
    """A file that is read by one request a range, of a size that is asked for once."""

    def __init__(self, store: Store, name: str) -> None:
        self.name = store.locate(name)
        self.size = store.size(name)
        self._store = store
        self._name = name

    def read(self, start: int, length: int) -> bytes:
        """Return `length` bytes from `start`, fewer only at the end of the file."""
        length = min(length, self.size - start)
        return self._store.read(self._name, start, length) if length > 0 else b""


def missing(where: str) -> MissingFile:
    """Return the error for a file that was named and is not there."""
    return MissingFile(
        f"{where} is not there; start the command again, which reads the current snapshot, "
        "or restore the file from a copy of the store"
    )


def exists_already(where: str) -> StoreError:
    """Return the error for a second file under a name."""
    return StoreError(
        f"{where} exists already and files are never overwritten; run the step again, which picks a new name"
    )
