"""SharedSlots: a fixed number of slots that several processes of a machine share, such as its cores.

A slot is a lock on a file. The system gives it back when the process that holds it ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path


class SharedSlots:
    """The slots that this process holds until it closes them or ends; without a folder there are no slots."""

    def __init__(self, folder: str, slots: int) -> None:
        self._names = [Path(folder, f"slot-{number}.lock") for number in range(slots)] if folder else []
        self._held: dict[Path, int] = {}

    def hold(self, count: int) -> bool:
        """Take free slots until the process holds `count`; return whether it does."""
        while len(self._held) < count:
            if not self._take_one():
                return False
        return True

    def _take_one(self) -> bool:
        return any(self._take(name) for name in self._names if name not in self._held)

    def _take(self, name: Path) -> bool:
        with suppress(OSError):  # the folder is on another machine, or another process holds the lock
            descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
                raise
            self._held[name] = descriptor
            return True
        return False

    def close(self) -> None:
        """Give all slots back."""
        while self._held:
            os.close(self._held.popitem()[1])
