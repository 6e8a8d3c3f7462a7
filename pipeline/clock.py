"""A clock that starts with the wall clock and then moves with the monotonic clock, so it never jumps.

The states of hosts and pages need wall-clock time, because later processes read them. But the wall clock may
be changed while a task runs, and the waits and the deadline of the task must not move with it.
"""

from __future__ import annotations

import time

_SLACK = 60.0  # seconds that may pass between the end of a transfer and the handling of its answer


class RunClock:
    """Seconds since 1970 that never jump, from the start of the clock on."""

    def __init__(self) -> None:
        self.started = time.time()
        self._origin = time.monotonic()

    def now(self) -> float:
        """Return the current time; it is right if the wall clock was right at the start."""
        return self.started + time.monotonic() - self._origin

    def began(self, wall: float, seconds: float) -> float:
        """Return the start of something that has just ended and took `seconds`.

        That is `wall`, the wall-clock time of the start, unless the wall clock was changed meanwhile.
        """
        expected = self.now() - seconds
        return wall if abs(wall - expected) <= _SLACK else expected

    def deadline(self, wall: float, most: float) -> float:
        """Return a wall-clock deadline as a time of this clock, at most `most` seconds after the start."""
        return self.started + min(wall - self.started, most)
