"""How far a task is, in a small file that whoever started it looks at.

Tasks run in other processes, and mrjob has no way for them to speak before they end. A file each is the
simplest thing that works: a killed task leaves nothing to clean up, and on a cluster, where the folder does
not exist, a task keeps quiet.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import reduce
from pathlib import Path

import msgspec

RECORD_BYTES = 128  # always as many, so that a new record covers the old one


class Progress(msgspec.Struct, frozen=True, array_like=True):
    """What a task, or all of them together, have done so far."""

    done: int = 0
    total: int = 0
    bytes: int = 0
    errors: int = 0
    waiting: int = 0  # hosts that may not be asked yet

    def __add__(self, other: Progress) -> Progress:
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return Progress(*map(sum, pairs))


_decoder = msgspec.json.Decoder(Progress)


class ProgressFile:
    """The place where a task says how far it is; an empty or missing folder means that nobody listens."""

    def __init__(self, folder: str, task: int | str) -> None:
        self._descriptor: int | None = None
        if folder:
            with suppress(OSError):
                flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
                self._descriptor = os.open(Path(folder, f"{task}.json"), flags, 0o666)

    def write(self, progress: Progress) -> None:
        """Say how far the task is; a full disk is no reason to stop it."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.pwrite(self._descriptor, msgspec.json.encode(progress).ljust(RECORD_BYTES), 0)

    def close(self) -> None:
        """Let go of the file, which stays."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_silent(folder: Path) -> bool:
    """Tell whether no task has said anything: it is too early, or they run on other machines."""
    return next(folder.glob("*.json"), None) is None


def read_progress(folder: Path) -> Progress:
    """Return what all tasks that report to a folder have done together."""
    return reduce(Progress.__add__, map(_read, sorted(folder.glob("*.json"))), Progress())


def _read(path: Path) -> Progress:
    try:
        return _decoder.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):  # not written yet
        return Progress()
