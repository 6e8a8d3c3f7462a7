"""How long a store that does not answer is asked again, and how often: the same for S3 and HDFS.

A service that has answered this process before is there, and is being restarted or cut off for a moment; one
that never has may have a wrong address, which the user wants to know soon.
"""

from __future__ import annotations

import logging
import secrets
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlctl.pipeline.store.hdfs.errors import HdfsProblem

log = logging.getLogger(__name__)

FIRST_PATIENCE = 6.0  # seconds, towards a service that has never answered
PATIENCE = 60.0  # seconds, later on
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
TOLD_AFTER = 3  # tries


class Patience:
    """Pauses between tries, longer each time and not in step with others, until time is up."""

    def __init__(self, *, is_known: bool) -> None:
        self._end = time.monotonic() + (PATIENCE if is_known else FIRST_PATIENCE)
        self._tries = 0

    def pause(self, trouble: str) -> float | None:
        """Return how many seconds to wait before another try, None when that would be too late."""
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * float(2**self._tries))
        pause = longest * (1 - secrets.randbelow(100) / 200)
        if time.monotonic() + pause > self._end:
            return None
        if self._tries == TOLD_AFTER:
            log.warning("%s; trying again", trouble)
        self._tries += 1
        return pause

    def use(self, problem: HdfsProblem, *, also: bool = False) -> None:
        """Pause before another try, or raise the problem if that would be in vain."""
        if not (problem.is_transient or also):
            raise problem
        pause = self.pause(f"{problem.address}: {problem.said}")
        if pause is None:
            raise problem
        time.sleep(pause)
