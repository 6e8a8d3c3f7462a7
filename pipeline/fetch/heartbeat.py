"""The signs of life of a fetch task, in memory that it shares with the process that watches it.

The watcher must learn that the task hangs, and over which host, when the task can no longer say anything: a
call into a library may never return, and may keep Python from running. So the task leaves notes where the
watcher can read them without its help: a counter, what the task is doing, and the host it works on.
"""

from __future__ import annotations

import mmap
import struct
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEATS = struct.Struct("=Q")
_DOING = _BEATS.size  # a byte
_HOST = _DOING + 1  # a byte of length and the name
_LONGEST_NAME = 255  # bytes; a host name has at most 253, and a port may follow
_SIZE = _HOST + 1 + _LONGEST_NAME


class Doing(IntEnum):
    """What a task is at: only while it fetches is it expected to beat about once a second."""

    OWN_WORK = 0  # reads from the store or writes to it: the store sets the pace, no stranger does
    FETCHING = 1


class Sign(NamedTuple):
    """What the watcher reads; `host` is empty when the task works for no host in particular."""

    beats: int
    doing: Doing
    host: str


class Heartbeat:
    """Notes in shared memory: made before the fork, written by the child, read by the parent."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SIZE)
        self._beats = 0
        self._last = Doing.OWN_WORK, b""

    def beat(self) -> None:
        """Say that the fetch loop goes round; it works for no host in particular now."""
        self._note(Doing.FETCHING, b"")

    def working_on(self, host: str) -> None:
        """Say that a library is about to be called for a host; the call before has come back."""
        self._note(Doing.FETCHING, host.encode("utf-8", "replace")[:_LONGEST_NAME])

    @contextmanager
    def own_work(self) -> Iterator[None]:
        """Let no beat be expected while the block runs; then the task goes on with what it was at."""
        before = self._last
        self._note(Doing.OWN_WORK, b"")
        try:
            yield
        finally:
            self._note(*before)

    def read(self) -> Sign:
        """Return the last sign of the child; it may be torn while the child is writing one."""
        memory = self._memory
        length = memory[_HOST]
        host = memory[_HOST + 1 : _HOST + 1 + length].decode("utf-8", "replace")
        return Sign(_BEATS.unpack_from(memory)[0], Doing(memory[_DOING] & 1), host)

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()

    def _note(self, doing: Doing, host: bytes) -> None:
        self._beats += 1
        self._last = doing, host
        self._memory[_DOING : _HOST + 1 + len(host)] = bytes((doing, len(host))) + host
        _BEATS.pack_into(self._memory, 0, self._beats)
