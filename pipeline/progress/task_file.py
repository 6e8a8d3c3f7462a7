"""Progress files: each task writes how far it is into a small file, and the driver reads it.

Tasks run in other processes, and mrjob has no way for them to report before they end. One file per task is
the simplest solution: a killed task leaves nothing to clean up, and on a cluster, where the folder does not
exist, a task reports nothing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import reduce
from pathlib import Path

import msgspec

RECORD_BYTES = 128  # fixed, so that a new record overwrites the old one


class Progress(msgspec.Struct, frozen=True, array_like=True):
    """What one task, or all tasks together, have done so far."""

    done: int = 0
    total: int = 0
    bytes: int = 0
    errors: int = 0
    waiting: int = 0  # hosts that must not be asked yet

    def __add__(self, other: Progress) -> Progress:
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return Progress(*map(sum, pairs))


_decoder = msgspec.json.Decoder(Progress)


class ProgressFile:
    """The progress file of one task; without a folder, or if it does not exist, nothing is written."""

    def __init__(self, folder: str, task: int | str) -> None:
        self._descriptor: int | None = None
        if folder:
            with suppress(OSError):
                flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
                self._descriptor = os.open(Path(folder, f"{task}.json"), flags, 0o666)

    def write(self, progress: Progress) -> None:
        """Write the progress; a full disk does not stop the task."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.pwrite(self._descriptor, msgspec.json.encode(progress).ljust(RECORD_BYTES), 0)

    def close(self) -> None:
        """Close the file; it stays in its folder."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_silent(folder: Path) -> bool:
    """Return whether no task has reported: it is too early, or the tasks run on other machines."""
    return next(folder.glob("*.json"), None) is None


def read_progress(folder: Path) -> Progress:
    """Return the summed progress of all tasks that report to a folder."""
    return reduce(Progress.__add__, map(_read, sorted(folder.glob("*.json"))), Progress())


def _read(path: Path) -> Progress:
    try:
        return _decoder.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):  # not written yet
        return Progress()
