"""A folder for the files of one step or job, which is gone afterwards whatever happens.

A process that is killed cannot remove its folder. So it holds a lock on it (flock), which the kernel lifts
when the process and its forks have ended, and the next run removes the folders nobody holds. That works
across containers, where the number of a process says nothing.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "crawlctl-scratch-"  # of folders that are locked; others called crawlctl-… are not ours to judge
TRIES = 10  # each lost only to another process that took the folder for an old one before it was locked
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def scratch_folder(parent: str | Path | None = None) -> Iterator[Path]:
    """Give a new folder below a parent, or below $TMPDIR, and remove it in the end."""
    try:
        where = os.fspath(parent or tempfile.gettempdir())
        remove_abandoned(where)
        folder, lock = _make(where)
    except OSError as err:
        raise ConfigError(f"no scratch folder can be made: {err}; let TMPDIR name a place for it") from err
    try:
        yield folder
    finally:
        _remove(folder)
        os.close(lock)


@cache
def remove_abandoned(parent: str) -> None:
    """Remove the folders of processes that were killed; done once, for a place is seldom littered."""
    with suppress(OSError), os.scandir(parent) as found:
        for entry in found:
            if entry.name.startswith(PREFIX):
                with suppress(OSError):
                    _remove_if_abandoned(entry)


def _remove_if_abandoned(entry: os.DirEntry[str]) -> None:
    if entry.stat(follow_symlinks=False).st_uid != os.getuid():
        return
    descriptor = os.open(entry.path, _FOLDER)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(entry.path, ignore_errors=True)
    finally:
        os.close(descriptor)


def _make(parent: str) -> tuple[Path, int]:
    """Return a new folder and the descriptor that holds its lock."""
    for _ in range(TRIES):
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        with suppress(FileNotFoundError):
            descriptor = os.open(folder, _FOLDER)
            if _lock(descriptor) and folder.exists():
                return folder, descriptor
            os.close(descriptor)
    raise OSError(f"others remove new folders in {parent}")


def _lock(descriptor: int) -> bool:
    """Lock a new folder; return whether nobody is about to remove it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks, where nobody removes what others have made
    return True


def _remove(folder: Path) -> None:
    """Remove a folder with all in it; a signal in the middle of that, which ends us, finds it removed."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
