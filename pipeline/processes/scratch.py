"""Scratch folders: for the files of one step or job, and removed afterwards whatever happens.

A killed process cannot remove its folder. So it holds a lock on the folder (flock), which the kernel releases
when the process and its forks have ended, and the next run removes all folders without a lock. This also
works across containers, where a process id means nothing.
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

PREFIX = "crawlctl-scratch-"  # locked folders begin with it; other folders crawlctl-… are left alone
TRIES = 10  # a try fails only if another process takes the new folder for an abandoned folder
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def scratch_folder(parent: str | Path | None = None) -> Iterator[Path]:
    """Make a new folder below a parent, or below $TMPDIR, and remove it at the end."""
    try:
        where = os.fspath(parent or tempfile.gettempdir())
        remove_abandoned(where)
        folder, lock = _make(where)
    except OSError as err:
        raise ConfigError(
            f"no scratch folder can be made: {err}; set TMPDIR to a folder that can be written"
        ) from err
    try:
        yield folder
    finally:
        _remove(folder)
        os.close(lock)


@cache
def remove_abandoned(parent: str) -> None:
    """Remove the folders of killed processes; only once per process, because there are seldom any."""
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
    """Lock a new folder; return False if another process is about to remove it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks, where no process removes the folders of others
    return True


def _remove(folder: Path) -> None:
    """Remove a folder with all in it, even if a signal arrives meanwhile."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
