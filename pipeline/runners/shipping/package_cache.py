"""The user's cache of packed files for the nodes; a file name changes with the content."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.processes.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT_SECONDS = 7 * 86_400
KINDS = ("crawlctl-*.zip", "environment-*.tar.gz", "bootstrap-*.sh")


def cached_file(name: str, scratch: Path, write: Callable[[Path], object]) -> Path:
    """Return a file from the cache by its name; write it first if it is missing.

    Without a home folder it is written to the scratch folder, never to a shared folder: there another user
    could store other code under the name.
    """
    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        cached = folder / name
        if not cached.exists():
            _forget_old(folder)
            _write_whole(cached, write)
        os.utime(cached)
    except (OSError, ConfigError, RuntimeError):  # RuntimeError: there is no home folder
        cached = scratch / name
        _write_whole(cached, write)
    return cached


def cache_folder() -> Path:
    """Return the cache folder of the user."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crawlctl"


def _write_whole(target: Path, write: Callable[[Path], object]) -> None:
    """Write a file under another name first, so that no reader ever sees half of it."""
    with scratch_folder(target.parent) as scratch:
        half = scratch / target.name
        write(half)
        half.rename(target)


def _forget_old(folder: Path) -> None:
    for kind in KINDS:
        for path in folder.glob(kind):
            with suppress(OSError):
                if path.stat().st_mtime < time.time() - KEPT_SECONDS:
                    path.unlink()
