"""Lets the files of one step reach the disk together.

A file is durable when its content and the names in all folders above it are synced. A step of a round writes
a dozen files and names them when all are durable, so nothing is gained by waiting for each of them: one after
the other, the 51 to 88 syncs of a task took 0.2 to 0.5 s, in which cores were idle. Together, they make the
file system write its journal once or twice.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

from crawlctl.pipeline.store.local.disk import disk_errors, folders_above, sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import TypeVar

    Item = TypeVar("Item")

_MOST_FILES = 64  # that wait at the same time: each holds a descriptor
_THREADS = 16


class UnsyncedFile(Protocol):
    """A file that is written but not synced."""

    path: Path
    root: Path  # the folder of the store

    def sync(self) -> None:
        """Wait until the content has reached the disk, and close the file."""

    def discard(self) -> None:
        """Remove the file; never raise."""


class SyncGroup:
    """The files that a process has written since the last sync, for one `with` block of `synced_together`."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._files: list[UnsyncedFile] = []

    @property
    def is_ours(self) -> bool:
        """Whether this process has begun the group; a fork inherits a group that it will never end."""
        return self._owner == os.getpid()

    def add(self, file: UnsyncedFile) -> None:
        """Take a file that is written; `sync` makes it durable."""
        self._files.append(file)
        if len(self._files) >= _MOST_FILES:
            self.sync()

    def sync(self) -> None:
        """Wait until all files and their names have reached the disk."""
        folders = {folder for file in self._files for folder in folders_above(file.path, file.root)}
        _at_once(_sync_file, self._files)
        _at_once(_sync_folder, folders)
        self._files.clear()

    def discard(self) -> None:
        """Remove the files that are not synced."""
        for file in self._files:
            file.discard()


_GROUP: ContextVar[SyncGroup | None] = ContextVar("group", default=None)


def current_group() -> SyncGroup | None:
    """Return the group that files of this thread belong to, None if each is synced by itself."""
    group = _GROUP.get()
    return group if group is not None and group.is_ours else None


@contextmanager
def synced_together() -> Iterator[None]:
    """Sync the files that are written in this block at its end, all together.

    After an error those that are not synced yet are removed; `crawlctl gc` deletes the others.

    So no file of the block may be named in a manifest, journal or snapshot before the end of the block. It
    concerns files of `Store.write` in stores on a disk.
    """
    group = SyncGroup()
    token = _GROUP.set(group)
    try:
        yield
        group.sync()
    except BaseException:  # Ctrl-C too
        group.discard()
        raise
    finally:
        _GROUP.reset(token)


def _sync_file(file: UnsyncedFile) -> None:
    file.sync()


def _sync_folder(folder: Path) -> None:
    with disk_errors(folder):
        sync_folder(folder)


def _at_once(function: Callable[[Item], None], items: Iterable[Item]) -> None:
    """Call a function for all items in threads, and raise the first error."""
    items = list(items)
    if len(items) < 2:
        for item in items:
            function(item)
        return
    from concurrent.futures import ThreadPoolExecutor

    try:
        with ThreadPoolExecutor(min(_THREADS, len(items)), "crawlctl-sync") as pool:
            for _ in pool.map(function, items):
                pass
    except RuntimeError:  # no thread can be started, for example because of a limit of a container
        for item in items:
            function(item)
