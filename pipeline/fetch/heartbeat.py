"""Signs of life of a fetch task, in memory that it shares with its supervisor.

The supervisor must learn that a task hangs, and on which host, when the task cannot report it: a call into a
library may never return, and may keep Python from running. So the task writes three notes into shared memory,
where the supervisor reads them: a counter, what the task is doing, and the host it works on.
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
_DOING = _BEATS.size  # offset of one byte
_HOST = _DOING + 1  # offset of one byte of length, then the name
_LONGEST_NAME = 255  # bytes; a host name has at most 253, a port may follow and is cut off
_SIZE = _HOST + 1 + _LONGEST_NAME


class Doing(IntEnum):
    """What a task is doing now; only a task that fetches must beat about once per second."""

    OWN_WORK = 0  # reading from or writing to the store, which may take long; no foreign host is involved
    FETCHING = 1


class Sign(NamedTuple):
    """The last notes of a task for its supervisor; `host` is empty if it works on no single host."""

    beats: int
    doing: Doing
    host: str


class Heartbeat:
    """The notes in shared memory: created before the fork, written by the child, read by the parent."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SIZE)
        self._beats = 0
        self._last = Doing.OWN_WORK, b""

    def beat(self) -> None:
        """Record that the fetch loop is running and works on no single host."""
        self._note(Doing.FETCHING, b"")

    def working_on(self, host: str) -> None:
        """Record that a library is about to be called for a host."""
        self._note(Doing.FETCHING, host.encode("utf-8", "replace")[:_LONGEST_NAME])

    @contextmanager
    def own_work(self) -> Iterator[None]:
        """Tell the supervisor to expect no beats while the block runs; then restore the notes from before."""
        before = self._last
        self._note(Doing.OWN_WORK, b"")
        try:
            yield
        finally:
            self._note(*before)

    def read(self) -> Sign:
        """Return the last notes of the child; they may be half written while the child writes."""
        memory = self._memory
        length = memory[_HOST]
        host = memory[_HOST + 1 : _HOST + 1 + length].decode("utf-8", "replace")
        return Sign(_BEATS.unpack_from(memory)[0], Doing(memory[_DOING] & 1), host)

    def close(self) -> None:
        """Free the shared memory."""
        self._memory.close()

    def _note(self, doing: Doing, host: bytes) -> None:
        self._beats += 1
        self._last = doing, host
        self._memory[_DOING : _HOST + 1 + len(host)] = bytes((doing, len(host))) + host
        _BEATS.pack_into(self._memory, 0, self._beats)
