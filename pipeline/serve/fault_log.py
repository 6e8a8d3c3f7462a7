"""FaultLog: tells the operator, on standard error, that the store cannot be read.

A visitor learns only that the index cannot be read at the moment. The operator needs to know which file, and
what to do. Each message is printed once a minute at most, however many visitors ask.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from crawlctl.pipeline.config.secrets import masked
from crawlctl.pipeline.terminal.printable import escaped
from crawlctl.pipeline.terminal.utc import utc

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.errors import CrawlctlError

TELL_EVERY = 60.0  # seconds
_MAX_REMEMBERED = 1000  # messages


class FaultLog:
    """The messages that were printed in the last minute, in one process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._told: dict[str, float] = {}

    def tell(self, error: CrawlctlError) -> None:
        """Print an error with the time, unless it was printed a moment ago."""
        text, now = str(error), self._clock()
        last = self._told.get(text)
        if last is not None and now - last < TELL_EVERY:
            return
        if len(self._told) >= _MAX_REMEMBERED:
            self._told.clear()
        self._told[text] = now
        print(escaped(f"{utc(time.time())}: {masked(text)}"), file=sys.stderr, flush=True)


FAULTS = FaultLog()  # of this process
