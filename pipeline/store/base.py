"""The interface of a store: named files that never change once they are written.

A backend (local/, s3/, hdfs/) needs ranged reads, whole and streamed writes, listing, deletion and
create-if-absent. Only create-if-absent has to be atomic: snapshots and leases are built on it alone.
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
    """A file in a listing; `modified` is in seconds since 1970 by the clock of the store."""

    name: str
    bytes: int
    modified: float


class Store(ABC):
    """The files of one crawl.

    Names follow file_names.py, and a name is never used for a second file. Several threads may use one store
    object, and so may parent and child after a fork.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri

    def locate(self, name: str) -> str:
        """Return the full name of a file, for messages."""
        return f"{self.uri}/{name}"

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """Return `length` bytes from `start` on (None: all of them); fewer only at the end of the file."""
        check_name(name)
        if start < 0 or (length is not None and length < 0):
            raise ValueError(f"{name}: start {start} and length {length} must not be negative")
        return b"" if length == 0 else self._read(name, start, length)

    def put(self, name: str, data: bytes) -> None:
        """Write a small file as a whole; a file of that name with other content is an error."""
        if not self.create(name, data):
            raise exists_already(self.locate(name))

    def put_passing(self, name: str, data: bytes) -> None:
        """Write a small file as a whole, without a sync: it may be lost in a crash of the machine."""
        self.put(name, data)

    @contextmanager
    def write(self, name: str) -> Iterator[StoreWriter]:
        """Open a new file for writing.

        After a clean exit of the `with` block the file exists durably; in a store on a disk, at the end of a
        `synced_together` block around it. After an exception it does not exist.
        """
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
        """Delete files; a file that does not exist is not an error."""
        self._delete(map(check_name, names))

    def delete_passing(self, names: Iterable[str]) -> None:
        """Delete files without a sync: they may be there again after a crash of the machine."""
        self.delete(names)

    @abstractmethod
    def size(self, name: str) -> int:
        """Return the length of a file in bytes."""

    @abstractmethod
    def open(self, name: str) -> RangedSource:
        """Look up a file once and return it for ranged reads."""

    @abstractmethod
    def create(self, name: str, data: bytes) -> bool:
        """Write a small file as a whole unless the name is taken; return whether it holds this data now.

        If several writers try at the same time, one wins. When the answer of the store is lost, the bytes in
        the file are the only sign of who won. So where it matters who won, each writer must write bytes that
        no other writer writes.
        """

    def keep_spare(self, folder: str) -> None:  # noqa: B027 - only a disk needs it
        """Reserve some disk space in a folder, if the store is a disk that may fill up (local/spare.py)."""

    def create_from_spare(self, name: str, data: bytes) -> bool:
        """Write a small file as `create` does, in the space that was reserved in its folder."""
        return self.create(name, data)

    @abstractmethod
    def sweep(self, folder: str, before: float, *, dry_run: bool = False) -> tuple[StoredFile, ...]:
        """Remove the unfinished files of dead writers from a top folder, and return them.

        Only files that were last changed before the time `before` (seconds since 1970) are removed.
        """

    @abstractmethod
    def _read(self, name: str, start: int, length: int | None) -> bytes: ...

    @abstractmethod
    def _sink(self, name: str) -> StoreWriter: ...

    @abstractmethod
    def _list(self, prefix: str) -> Iterator[StoredFile]: ...

    @abstractmethod
    def _delete(self, names: Iterable[str]) -> None: ...


class RemoteFile:
    """An open file of a remote store: each read is one request; the size is asked once, when it is opened."""

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
    """Return the error for a file that a snapshot or a user names and that does not exist."""
    return MissingFile(
        f"{where} is not there; start the command again, which reads the current snapshot; "
        "if the file is missing there too, `crawlctl check --repair` rebuilds it"
    )


def exists_already(where: str) -> StoreError:
    """Return the error for writing a second file under a name."""
    return StoreError(
        f"{where} exists already and files are never overwritten; run the step again, which picks a new name"
    )
