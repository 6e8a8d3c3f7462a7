"""What is remembered of a host between rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.robots.robots import Robots

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import SitemapSettings

_SOON = 60  # seconds for which a round waits as a matter of course


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


class KnownSitemaps(msgspec.Struct, frozen=True, array_like=True):
    """The sitemaps of a host, in canonical form, and how far they have been read.

    A pass over them may take several rounds of a slow host; it goes on where the last round left off.
    """

    named: dict[str, tuple[str, ...]] = {}  # by the scheme of the robots.txt that names them
    read_at: float = 0.0  # when the last pass came to its end, or could not go on
    problem: str = ""  # the first that the last pass met
    depths: dict[str, int] = {}  # of a pass that is not at its end: how deep its sitemaps are nested,
    waiting: tuple[str, ...] = ()  # and those of them that are still to be read

    def are_due(self, now: float, interval: float) -> bool:
        """Tell whether there are sitemaps that have not been read for so many seconds."""
        is_fresh = 0 <= now - self.read_at < interval
        return not is_fresh and (bool(self.waiting) or any(self.named.values()))


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
    sitemaps: KnownSitemaps = KnownSitemaps()

    @property
    def crawl_delay(self) -> float:
        """Return the delay the host asks for in robots.txt, 0 where it asks for none."""
        return max((known.robots.crawl_delay or 0.0 for known in self.robots.values()), default=0.0)

    def scheme(self, name: str) -> SchemeState:
        """Return what is remembered of a scheme; older files have one count for both."""
        if not self.schemes:
            return SchemeState(failures=self.failures, pages=self.pages)
        return self.schemes.get(name) or SchemeState()

    def sitemaps_due(self, now: float, settings: SitemapSettings) -> bool:
        """Tell whether the host has sitemaps that are to be read, and may be asked for them about now."""
        may_be_asked = self.not_before <= now + _SOON and settings.max_files > 0
        return may_be_asked and self.sitemaps.are_due(now, settings.interval)
