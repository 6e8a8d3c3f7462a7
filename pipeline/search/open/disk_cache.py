"""Keeps what was read of a remote store on the local disk, up to a bound; files of a store never change."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

MAX_BYTES = 256 << 20

_KEPT_SHARE = 0.8  # of the bound, after what was not used for longest has been removed
_TEMPORARY = ".new-"


class _Kept(NamedTuple):
    used: float
    bytes: int
    path: Path


class DiskCache:
    """A folder of pieces of files; where it cannot be written, nothing is kept and nothing fails."""

    def __init__(self, folder: Path, uri: str, max_bytes: int = MAX_BYTES) -> None:
        self._folder = folder
        self._uri = uri
        self._max_bytes = max_bytes
        self._written = 0

    def get(self, name: str, start: int, length: int) -> bytes | None:
        """Return a piece of a file, None if it is not kept."""
        path = self._path(name, start, length)
        try:
            data = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return data if len(data) == length else None

    def put(self, name: str, start: int, data: bytes) -> None:
        """Keep a piece of a file."""
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
        """Remove what was not used for longest, if more is kept than may be."""
        if not self._written:
            return
        self._written = 0
        kept = self._kept()
        excess = sum(one.bytes for one in kept)
        if excess <= self._max_bytes:
            return
        excess -= int(_KEPT_SHARE * self._max_bytes)
        for one in sorted(kept):
            if excess <= 0:
                break
            with suppress(OSError):
                one.path.unlink(missing_ok=True)
            excess -= one.bytes

    def _kept(self) -> list[_Kept]:
        found: list[_Kept] = []
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(OSError):  # another process has just removed it
                    status = entry.stat(follow_symlinks=False)
                    found.append(_Kept(status.st_mtime, status.st_size, Path(entry.path)))
        return found

    def _path(self, name: str, start: int, length: int) -> Path:
        key = f"{self._uri}\n{name}\n{start}\n{length}"
        return self._folder / blake2b(key.encode(), digest_size=16).hexdigest()


def default_folder() -> Path | None:
    """Return where the user's caches belong, None where that cannot be told."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base and Path(base).is_absolute():
        return Path(base) / "crawlctl" / "search"
    try:
        return Path.home() / ".cache" / "crawlctl" / "search"
    except RuntimeError:
        return None
