"""SlowSign: says now and then how much of a long reading is done, and nothing about a short reading."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST_SECONDS = 2.0  # without a sign; most readings are over by then
SECONDS = 5.0  # between two signs


class SlowSign:
    """A function to call as often as is convenient, with the number of items read so far and of all items."""

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
