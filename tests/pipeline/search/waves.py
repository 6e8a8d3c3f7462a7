"""A remote store that counts requests, and how many of them have to wait for one another."""

from __future__ import annotations

import time
from threading import Condition
from typing import TYPE_CHECKING

from crawlctl.tests.pipeline.search.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.store.base import StoredFile

_PAUSE = 0.25  # seconds without a new request after which all that were asked are answered


class WaveStore(MemoryStore):
    """Answers no request before nobody asks any more, and then all at once: a trip, or wave.

    `waves` has the number of requests of each trip. A request that needs the answer of another one comes in
    a later wave, so the number of waves is the length of the longest chain of requests.
    """

    def __init__(self) -> None:
        super().__init__()
        self.waves: list[list[str]] = []
        self.is_counting = False
        self._waiting: list[str] = []
        self._last = 0.0
        self._changed = Condition()

    def count(self) -> None:
        """Count from now on, from 0."""
        self.waves, self.is_counting = [], True

    def _read(self, name: str, start: int, length: int | None) -> bytes:
        self._wait(f"{name} {start} {length}")
        return super()._read(name, start, length)

    def _list(self, prefix: str) -> Iterator[StoredFile]:
        self._wait(prefix)
        return super()._list(prefix)

    def _wait(self, request: str) -> None:
        if not self.is_counting:
            return
        with self._changed:
            self._waiting.append(request)
            self._last = time.monotonic()
            wave = len(self.waves)
            while len(self.waves) == wave:
                left = self._last + _PAUSE - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                else:
                    self.waves.append(self._waiting)
                    self._waiting = []
                    self._changed.notify_all()
