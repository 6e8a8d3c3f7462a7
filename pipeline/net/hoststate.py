"""What is remembered of a host between rounds."""

from __future__ import annotations

import msgspec

from crawlctl.pipeline.net.robots import Robots


class KnownRobots(msgspec.Struct, frozen=True, array_like=True):
    """What a robots.txt said and when it was asked for."""

    robots: Robots
    read_at: float
    status: int | None = None  # None: no answer came


class HostState(msgspec.Struct, frozen=True, array_like=True):
    """The value of a host in the host table; times are UTC seconds.

    A robots.txt holds for one scheme of a host (RFC 9309 §2.3), hence one for http and one for https.
    New fields go to the end, with a default: older files then read as before.
    """

    robots: dict[str, KnownRobots] = {}
    not_before: float = 0.0
    failures: int = 0  # in a row
    pages: int = 0  # answered, in all rounds
    last_seconds: float = 0.0  # the time its last answer took
    reason: str = ""  # of the last failure, empty after an answer

    @property
    def crawl_delay(self) -> float:
        """Return the delay the host asks for in robots.txt, 0 where it asks for none."""
        return max((known.robots.crawl_delay or 0.0 for known in self.robots.values()), default=0.0)
