"""The time of a run: the wall clock as it was at the start, moved on by the monotonic one.

What is remembered of hosts and pages needs wall time, for it outlives the process. But a wall clock may be
set while a task runs; its waits and its deadline must not move with it.
"""

from __future__ import annotations

import time

_SLACK = 60.0  # seconds an answer may have waited to be looked at


class RunClock:
    """Seconds since 1970 that never jump."""

    def __init__(self) -> None:
        self.started = time.time()
        self._origin = time.monotonic()

    def now(self) -> float:
        """Return what time it is, if the clock was right at the start."""
        return self.started + time.monotonic() - self._origin

    def began(self, wall: float, seconds: float) -> float:
        """Return when something began that has just ended and took so many seconds.

        That is `wall`, what the wall clock said then, unless that clock was set meanwhile.
        """
        expected = self.now() - seconds
        return wall if abs(wall - expected) <= _SLACK else expected

    def deadline(self, wall: float, most: float) -> float:
        """Return a deadline given in wall time as a time of this clock, at most so many seconds away."""
        return self.started + min(wall - self.started, most)
