"""How long to try again, and how often."""

from __future__ import annotations

import logging
import secrets
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlctl.pipeline.store.hdfs_errors import HdfsProblem

log = logging.getLogger(__name__)

FIRST_PATIENCE = 6.0  # seconds, towards a cluster that has never answered: its address may be wrong
PATIENCE = 60.0  # seconds, later on: a namenode is restarted, or another one takes over
LONGEST_PAUSE = 5.0


class Patience:
    """Pauses between tries, longer each time and not in step with others, until time is up."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._tries = 0

    def use(self, problem: HdfsProblem, *, also: bool = False) -> None:
        """Pause before another try, or raise the problem if that would be in vain."""
        longest = min(LONGEST_PAUSE, 0.1 * 2**self._tries)
        pause = longest * (1 - secrets.randbelow(100) / 200)
        if not (problem.is_transient or also) or time.monotonic() + pause > self._end:
            raise problem
        if self._tries == 3:
            log.warning("%s: %s; trying again", problem.address, problem.said)
        self._tries += 1
        time.sleep(pause)
