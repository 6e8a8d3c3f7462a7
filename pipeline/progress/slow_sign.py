"""SlowSign: says now and then how far a long reading is, and nothing about a short one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST_SECONDS = 2.0  # without a sign; most readings are over by then
SECONDS = 5.0  # between two signs


class SlowSign:
    """Called with the number of items that are read and the number of all, as often as it is convenient."""

    def __init__(
        self, say: Callable[[str], None], what: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say = say
        self._what = what
        self._clock = clock
        self._next = clock() + FIRST_SECONDS

    def __call__(self, done: int, total: int) -> None:
        """Say how far the reading is, if it is time for a sign."""
        now = self._clock()
        if now >= self._next:
            self._next = now + SECONDS
            self._say(f"{self._what}: {done:,} of {total:,} read")
