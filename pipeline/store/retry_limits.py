"""How often and for how long S3 and HDFS are asked again when they do not answer.

A service that has answered this process before certainly exists: it is being restarted, or the network is
down for a moment, so we wait for a minute. A service that never answered may have a wrong address, and the
user wants to know that soon. We do not use tenacity: the pauses are ten lines, and botocore takes them
through a hook of its own.
"""

from __future__ import annotations

import logging
import secrets
import time

log = logging.getLogger(__name__)

NEW_SERVICE_SECONDS = 6.0  # for a service that has never answered this process
KNOWN_SERVICE_SECONDS = 60.0  # for a service that has answered it
FIRST_PAUSE = 0.1  # seconds
LONGEST_PAUSE = 5.0  # seconds
WARN_AFTER = 3  # tries


class RetryLimit:
    """The pauses between the tries of one request: each longer than the last, until the time is up.

    Pauses are partly random, so that many processes do not ask again at the same moment.
    """

    def __init__(self, *, is_known: bool) -> None:
        self._end = time.monotonic() + (KNOWN_SERVICE_SECONDS if is_known else NEW_SERVICE_SECONDS)
        self._tries = 0

    def next_pause(self, trouble: str) -> float | None:
        """Return how many seconds to wait before the next try, or None when the time is up.

        `trouble` says what went wrong; it is logged once, after some tries.
        """
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * float(2**self._tries))
        pause = longest * (1 - secrets.randbelow(100) / 200)
        if time.monotonic() + pause > self._end:
            return None
        if self._tries == WARN_AFTER:
            log.warning("%s; trying again", trouble)
        self._tries += 1
        return pause
