"""What is remembered of a host between rounds."""

from __future__ import annotations

import msgspec

from crawlctl.pipeline.net.robots import Robots


class KnownRobots(msgspec.Struct, frozen=True, array_like=True):
    """What a robots.txt said and when it was asked for."""

    robots: Robots
    read_at: float
    status: int | None = None  # None: no answer came


class SchemeState(msgspec.Struct, frozen=True, array_like=True):
    """What is remembered of one scheme of a host: http and https are two services on one machine."""

    not_before: float = 0.0
    failures: int = 0  # of the service, in a row
    page_errors: int = 0  # 5xx answers in a row that were taken as the page's own failure
    robots_tries: int = 0  # in vain, in a row
    pages: int = 0  # answered, in all rounds


class HostState(msgspec.Struct, frozen=True, array_like=True):
    """The value of a host in the host table; times are UTC seconds.

    A robots.txt holds for one scheme of a host (RFC 9309 §2.3), hence one for http and one for https.
    New fields go to the end, with a default: older files then read as before.
    """

    robots: dict[str, KnownRobots] = {}
    not_before: float = 0.0  # for the scheme that may be asked first
    failures: int = 0  # in a row, of the scheme that does best
    pages: int = 0  # answered, in all rounds
    last_seconds: float = 0.0  # the time its last answer took
    reason: str = ""  # of the last failure, empty after an answer
    ip: str = ""  # the address that answered last
    schemes: dict[str, SchemeState] = {}
    told_at: float = 0.0  # when this was noted, by the clock that `not_before` was told by
    left: int = 0  # URLs that were due and not asked for when the last round ended,
    left_reason: str = ""  # and why most of them were not

    @property
    def crawl_delay(self) -> float:
        """Return the delay the host asks for in robots.txt, 0 where it asks for none."""
        return max((known.robots.crawl_delay or 0.0 for known in self.robots.values()), default=0.0)

    def scheme(self, name: str) -> SchemeState:
        """Return what is remembered of a scheme; older files have one count for both."""
        if not self.schemes:
            return SchemeState(failures=self.failures, pages=self.pages)
        return self.schemes.get(name) or SchemeState()
