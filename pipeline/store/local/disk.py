"""Writes files so that after a crash a file is there with its whole content, or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import StoreError, StoreFull, StoreUnavailable
from crawlctl.pipeline.store.base import exists_already, missing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEMPORARY = ".tmp-"

FOLDER_TRIES = 20  # a try fails only if a deletion removes the empty folder at that very moment

# On macOS fsync() leaves the data in the cache of the drive; F_FULLFSYNC also empties that cache.
_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)

_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR}
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP}  # some network file systems

NO_LINKS = errno.ENOTSUP  # some file systems answer this to link(), others EPERM

_GENERAL = "check that the disk is mounted and healthy, then run the command again"
_FULL = "free some space there, run `crawlctl gc`, or move the store to a larger disk"
_DENIED = "check the owner and the permissions of that path, or give another --store"
_REMEDIES = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.EACCES: _DENIED,
    errno.EROFS: "mount that file system writable, or give another --store",
    errno.EPERM: _DENIED,
    NO_LINKS: "this file system has no hard links; keep the store on one that has (ext4, XFS, APFS, NFS)",
    errno.EIO: "the disk reports errors: look at the system log (dmesg), and restore from a copy if it fails",
    errno.ENOTDIR: "part of that path is a file, not a folder; move it away or give another --store",
    errno.EMFILE: "too many files are open: raise the limit (ulimit -n)",
    errno.ENFILE: "too many files are open on this machine: close some programs",
    errno.ENAMETOOLONG: "the path of the store is too long; give a shorter --store",
}


@contextmanager
def disk_errors(path: Path | str, *, reading: bool = False) -> Iterator[None]:
    """Turn the errors of the operating system into ours."""
    try:
        yield
    except OSError as err:
        raise _store_error(err, path, reading=reading) from err


def _store_error(err: OSError, path: Path | str, *, reading: bool) -> StoreError:
    """Return our error for an error of the operating system."""
    if reading and err.errno in _ABSENT:
        return missing(str(path))
    if err.errno == errno.EEXIST:
        return exists_already(str(path))
    remedy = _REMEDIES.get(err.errno or 0, _GENERAL)
    kind = StoreFull if err.errno in _NO_ROOM else StoreUnavailable
    return kind(f"{path}: {err.strerror or err}; {remedy}")


def create_whole(path: Path, data: bytes, root: Path) -> bool:
    """Write a file as a whole unless its name is taken; return False if the name holds other data."""
    temporary = path.with_name(TEMPORARY + os.urandom(8).hex())
    descriptor = open_new(temporary)
    try:
        try:
            write_all(descriptor, data)
            sync_file(descriptor)
        finally:
            os.close(descriptor)
        if not link_new(temporary, path) and not _holds(path, data):
            return False
    finally:
        with suppress(OSError):  # if this fails, `crawlctl gc` deletes the file later
            temporary.unlink()
    sync_names(path, root)
    return True


def replace_whole(path: Path, data: bytes, *, sync: bool) -> None:
    """Write a file as a whole, in place of an existing file with its name.

    Without `sync` a crash of the machine may lose the file.
    """
    temporary = path.with_name(TEMPORARY + os.urandom(8).hex())
    descriptor = open_new(temporary)
    try:
        try:
            write_all(descriptor, data)
            if sync:
                sync_file(descriptor)
        finally:
            os.close(descriptor)
        temporary.rename(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def link_new(temporary: Path, path: Path) -> bool:
    """Give a file a second name; return False if another file has that name."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except PermissionError as err:
        if err.errno == errno.EPERM:
            raise OSError(NO_LINKS, os.strerror(NO_LINKS), str(path)) from err
        raise
    return True


def _holds(path: Path, data: bytes) -> bool:
    # NFS may lose the answer to a link() that worked; its client then tries again and finds the name taken.
    try:
        return path.read_bytes() == data
    except FileNotFoundError:
        return False


def open_new(path: Path) -> int:
    """Create a new file, and the folders above it; return its descriptor."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    for _ in range(FOLDER_TRIES):
        with suppress(FileNotFoundError):
            return os.open(path, flags, 0o666)
        with suppress(FileNotFoundError):
            make_folders(path.parent)
    return os.open(path, flags, 0o666)


def make_folders(folder: Path) -> None:
    """Create a folder and the folders above it, durably."""
    try:
        folder.mkdir(exist_ok=True)
    except FileNotFoundError:
        make_folders(folder.parent)
        folder.mkdir(exist_ok=True)
    except FileExistsError as err:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from err
    sync_folder(folder.parent)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the data, with as many calls as the kernel needs."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def sync_file(descriptor: int) -> None:
    """Wait until the content of a file has reached the disk."""
    if _FULL_SYNC is not None:
        with suppress(OSError):  # not every file system supports it
            fcntl.fcntl(descriptor, _FULL_SYNC)
            return
    os.fsync(descriptor)


def sync_names(path: Path, root: Path) -> None:
    """Wait until the name of a file, and the names of the folders above it, have reached the disk.

    All folders up to the root are synced: another process may have made one of them a moment ago and not have
    synced it yet. To sync a folder in which nothing changed costs almost nothing.
    """
    for one in folders_above(path, root):
        sync_folder(one)


def folders_above(path: Path, root: Path) -> Iterator[Path]:
    """Yield the folders that a path is in, from the innermost one up to the root."""
    folder = path.parent
    while folder != root:
        yield folder
        folder = folder.parent
    yield root


def sync_folder(folder: Path) -> None:
    """Wait until the names in one folder have reached the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as err:
        if err.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)
