"""Keeps parts of remote files on the local disk, up to a limit; files of a store never change."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

MAX_BYTES = 256 << 20

_KEPT_SHARE = 0.8  # the share of the limit that is kept when the least recently used files are removed
_TEMPORARY = ".new-"


class _CachedFile(NamedTuple):
    used: float
    bytes: int
    path: Path


class DiskCache:
    """A folder with ranges of bytes of remote files, which several processes may share.

    If there is no folder, or it cannot be written, nothing is kept and no error is raised.
    """

    def __init__(self, folder: Path | None, uri: str, max_bytes: int = MAX_BYTES) -> None:
        # os.devnull is a file, so nothing can be found or written below it
        self._folder = Path(os.devnull) if folder is None else folder
        self._uri = uri
        self._max_bytes = max_bytes
        self._written = 0

    def get(self, name: str, start: int, length: int) -> bytes | None:
        """Return a range of bytes of a remote file, None if the cache does not have it."""
        path = self._path(name, start, length)
        try:
            data = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return data if len(data) == length else None

    def put(self, name: str, start: int, data: bytes) -> None:
        """Keep a range of bytes of a remote file."""
        path = self._path(name, start, len(data))
        new = self._folder / f"{_TEMPORARY}{secrets.token_hex(8)}"
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                new.write_bytes(data)
                new.replace(path)
                self._written += len(data)
            finally:
                new.unlink(missing_ok=True)

    def trim(self) -> None:
        """Remove the least recently used files, if more bytes are kept than the limit."""
        if not self._written:
            return
        self._written = 0
        files = self._files()
        excess = sum(file.bytes for file in files)
        if excess <= self._max_bytes:
            return
        excess -= int(_KEPT_SHARE * self._max_bytes)
        for file in sorted(files):
            if excess <= 0:
                break
            with suppress(OSError):
                file.path.unlink(missing_ok=True)
            excess -= file.bytes

    def _files(self) -> list[_CachedFile]:
        found: list[_CachedFile] = []
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(OSError):  # another process has just removed it
                    status = entry.stat(follow_symlinks=False)
                    found.append(_CachedFile(status.st_mtime, status.st_size, Path(entry.path)))
        return found

    def _path(self, name: str, start: int, length: int) -> Path:
        key = f"{self._uri}\n{name}\n{start}\n{length}"
        return self._folder / blake2b(key.encode(), digest_size=16).hexdigest()


def default_folder() -> Path | None:
    """Return the folder for the user's caches, None if there is no home folder."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base and Path(base).is_absolute():
        return Path(base) / "crawlctl" / "search"
    try:
        return Path.home() / ".cache" / "crawlctl" / "search"
    except RuntimeError:
        return None
