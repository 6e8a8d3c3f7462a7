"""A store in a folder of a local or network file system.

The methods that read use strings as paths: importing pathlib takes 4 ms, which a query saves.
"""

from __future__ import annotations

import os
import stat
import weakref
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import MissingFile
from crawlctl.pipeline.store.base import Store, StoredFile, missing
from crawlctl.pipeline.store.file_names import check_name, is_name
from crawlctl.pipeline.store.local.disk import (
    TEMPORARY,
    create_whole,
    disk_errors,
    open_new,
    replace_whole,
    sync_file,
    sync_folder,
    sync_names,
    write_all,
)
from crawlctl.pipeline.store.local.spare import create_from_spare, keep_spare
from crawlctl.pipeline.store.local.sync_group import current_group
from crawlctl.pipeline.store.writer import StoreWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

CHUNK_BYTES = 1 << 20


class LocalStore(Store):
    """The files in a folder, which the first write creates.

    In a scratch folder, whose files nobody reads after a crash, files are not `synced` when they are written.
    """

    def __init__(self, root: Path | str, *, synced: bool = True) -> None:
        super().__init__(_absolute(os.fspath(root)))
        self._synced = synced

    @cached_property
    def root(self) -> Path:
        """The folder."""
        from pathlib import Path

        return Path(self.uri)

    def size(self, name: str) -> int:
        """Return the length of a file in bytes."""
        path = self._path(name)
        with disk_errors(path, reading=True):
            status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise missing(str(path))
        return status.st_size

    def open(self, name: str) -> LocalSource:
        """Open a file once for ranged reads."""
        return LocalSource(self.locate(check_name(name)))

    def create(self, name: str, data: bytes) -> bool:
        """Write a small file as a whole unless the name is taken; return whether it holds this data now."""
        path = self._path(name)
        with disk_errors(path):
            return create_whole(path, data, self.root)

    def put_passing(self, name: str, data: bytes) -> None:
        """Write a small file as a whole, without waiting for the disk."""
        path = self._path(name)
        with disk_errors(path):
            replace_whole(path, data, sync=False)

    def delete_passing(self, names: Iterable[str]) -> None:
        """Delete files without waiting for the disk."""
        self._unlink(map(check_name, names))

    def keep_spare(self, folder: str) -> None:
        """Reserve some blocks in a folder for the time when the disk is full."""
        path = self._path(folder)
        with disk_errors(path):
            keep_spare(path)

    def create_from_spare(self, name: str, data: bytes) -> bool:
        """Write a small file as `create` does, in a block that was reserved in its folder."""
        path = self._path(name)
        with disk_errors(path, reading=True):
            return create_from_spare(path, data, self.root)

    def sweep(self, folder: str, before: float, *, dry_run: bool = False) -> tuple[StoredFile, ...]:
        """Remove temporary files, and empty folders, that were last changed before `before`."""
        path = self._path(folder)
        with disk_errors(path):
            return tuple(self._sweep(path, before, dry_run))

    def _path(self, name: str) -> Path:
        return self.root / check_name(name)

    def _read(self, name: str, start: int, length: int | None) -> bytes:
        source = self.open(name)
        try:
            return source.read(start, source.size if length is None else length)
        finally:
            source.close()

    def _sink(self, name: str) -> LocalWriter:
        return LocalWriter(name, self._path(name), self.root, synced=self._synced)

    def _list(self, prefix: str) -> Iterator[StoredFile]:
        return self._walk(prefix[: prefix.rfind("/") + 1], prefix)

    def _walk(self, stem: str, prefix: str) -> Iterator[StoredFile]:
        """Yield the files in the folder `stem`, which is empty or ends in a slash."""
        for key, entry in self._entries(stem):
            name = stem + key
            if key.endswith("/"):
                if name.startswith(prefix) and not key.startswith("."):
                    yield from self._walk(name, prefix)
            elif name.startswith(prefix) and is_name(name):
                with suppress(FileNotFoundError):  # it was deleted during the walk
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        yield StoredFile(name, status.st_size, status.st_mtime)

    def _entries(self, stem: str) -> tuple[tuple[str, os.DirEntry[str]], ...]:
        # A folder is sorted by its name with a slash behind it, because "a-b" comes before "a/b".
        folder = self.locate(stem)
        try:
            with disk_errors(folder, reading=True), os.scandir(folder) as scan:
                found = [(e.name + "/" if e.is_dir(follow_symlinks=False) else e.name, e) for e in scan]
        except MissingFile:
            return ()
        return tuple(sorted(found, key=lambda pair: pair[0]))

    def _delete(self, names: Iterable[str]) -> None:
        # A snapshot is deleted before its files: after a crash it must not reappear without them.
        for folder in self._unlink(names):
            with disk_errors(folder), suppress(FileNotFoundError):
                sync_folder(folder)

    def _unlink(self, names: Iterable[str]) -> set[Path]:
        """Delete files, and folders that become empty; return the folders in which something has changed."""
        touched: set[Path] = set()
        for name in names:
            path = self.root / name
            with disk_errors(path), suppress(FileNotFoundError, NotADirectoryError):
                path.unlink()
                touched.add(self._remove_empty(path.parent))
        return touched

    def _remove_empty(self, folder: Path) -> Path:
        """Remove a folder and the folders above it while they are empty; return the first that stays."""
        while folder != self.root:
            try:
                folder.rmdir()
            except OSError:  # not empty, or not permitted: the store works either way
                break
            folder = folder.parent
        return folder

    def _sweep(self, top: Path, before: float, dry_run: bool) -> Iterator[StoredFile]:
        from pathlib import Path

        for folder, _, files in os.walk(top, topdown=False):
            for path in (Path(folder, file) for file in files if file.startswith(TEMPORARY)):
                with suppress(FileNotFoundError):  # its writer is alive and has just removed it
                    status = path.stat()
                    if status.st_mtime < before:
                        if not dry_run:
                            path.unlink()
                        yield StoredFile(
                            path.relative_to(self.root).as_posix(), status.st_size, status.st_mtime
                        )
            with suppress(OSError):  # not empty, or gone
                if not dry_run and Path(folder).stat().st_mtime < before:
                    Path(folder).rmdir()


class LocalSource:
    """An open file. pread() takes no lock and moves no position, so threads and forks may share it."""

    def __init__(self, path: str) -> None:
        self.name = path
        with disk_errors(path, reading=True):
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._close = weakref.finalize(self, _close_read, self._descriptor)
            status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise missing(self.name)
        self.size = status.st_size

    def read(self, start: int, length: int) -> bytes:
        """Return `length` bytes from `start`, fewer only at the end of the file."""
        length = min(length, self.size - start)
        parts = []
        with disk_errors(self.name, reading=True):
            while length > 0 and (part := os.pread(self._descriptor, length, start)):
                parts.append(part)
                start += len(part)
                length -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """Close the file; the garbage collector closes it too."""
        self._descriptor = -1
        self._close()


class LocalWriter(StoreWriter):
    """A new file, written under its final name at once: no snapshot names it before it is complete."""

    def __init__(self, name: str, path: Path, root: Path, *, synced: bool) -> None:
        super().__init__(name, CHUNK_BYTES)
        self.path = path
        self.root = root
        self._synced = synced
        with disk_errors(path):
            self._descriptor = open_new(path)

    def _send(self, chunk: bytes) -> None:
        with disk_errors(self.path):
            write_all(self._descriptor, chunk)

    def _finish(self, last: bytes) -> None:
        with disk_errors(self.path):
            write_all(self._descriptor, last)
            if not self._synced:
                self._close_file()
            elif group := current_group():
                group.add(self)
            else:
                self.sync()
                sync_names(self.path, self.root)

    def sync(self) -> None:
        """Wait until the content has reached the disk, and close the file; a second call does nothing."""
        if self._descriptor < 0:
            return
        with disk_errors(self.path):
            sync_file(self._descriptor)
            self._close_file()

    def discard(self) -> None:
        """Remove the unfinished file."""
        with suppress(OSError):
            self.path.unlink()
        with suppress(OSError):
            self._close_file()
        self.close()

    def _close_file(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1  # the descriptor is closed even if close() fails
        if descriptor >= 0:
            os.close(descriptor)


def _close_read(descriptor: int) -> None:
    """Close a file that was only read; an error loses no data, and a finaliser could not raise it."""
    with suppress(OSError):
        os.close(descriptor)


def _absolute(path: str) -> str:
    """Return the absolute path; a ".." stays, because it may follow a symbolic link."""
    whole = path if path.startswith("/") else f"{os.getcwd()}/{path}"  # noqa: PTH109  see above
    return "/" + "/".join(part for part in whole.split("/") if part not in ("", "."))
