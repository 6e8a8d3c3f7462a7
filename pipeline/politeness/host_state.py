"""The state of a host that is saved between rounds, in the host table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.politeness.failure_kinds import kind_of
from crawlctl.pipeline.robots.robots import Robots

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import PolitenessSettings, SitemapSettings

_SOON = 60  # seconds; a round waits this long for a host in any case
_NO_ROBOTS = "robots.txt "  # the beginning of `left_reason` if robots.txt could not be read


class KnownRobots(msgspec.Struct, frozen=True, array_like=True):
    """The rules of a robots.txt, when it was requested, and the status (`crawlctl dump` shows it)."""

    robots: Robots
    read_at: float
    status: int | None = None  # None: there was no answer

    def is_fresh(self, agent: str, settings: PolitenessSettings, now: float) -> bool:
        """Return whether the rules are young enough, and were read for the crawler `agent`."""
        max_age = settings.robots_retry if self.robots.try_later else settings.robots_max_age
        return self.robots.agent == agent and 0 <= now - self.read_at <= max_age


class SchemeState(msgspec.Struct, frozen=True, array_like=True):
    """The saved state of one scheme of a host: http and https are two services on one machine."""

    not_before: float = 0.0
    failures: int = 0  # failures of the service, in a row
    page_errors: int = 0  # 5xx answers in a row that counted as failures of the page only
    robots_tries: int = 0  # failed requests for robots.txt, in a row
    pages: int = 0  # pages answered, in all rounds


class KnownSitemaps(msgspec.Struct, frozen=True, array_like=True):
    """The sitemaps and feeds of a host, as canonical URLs, and how far they have been read.

    With a slow host, one pass over its sitemaps may take several rounds. Each round continues the pass.
    """

    named: dict[str, tuple[str, ...]] = {}  # scheme of the robots.txt → the sitemaps it names
    read_at: float = 0.0  # when the last pass ended, or was blocked
    problem: str = ""  # the first problem of the last pass
    depths: dict[str, int] = {}  # how deep each sitemap of an unfinished pass is nested
    waiting: tuple[str, ...] = ()  # the sitemaps that an unfinished pass has still to read
    feeds: tuple[str, ...] = ()  # feeds that pages of the host name

    def are_due(self, now: float, interval: float) -> bool:
        """Return whether there are sitemaps or feeds that were not read in the last `interval` seconds."""
        is_fresh = 0 <= now - self.read_at < interval
        return not is_fresh and (bool(self.waiting or self.feeds) or any(self.named.values()))


class HostState(msgspec.Struct, frozen=True, array_like=True):
    """The record of a host in the host table; times are UTC seconds.

    A robots.txt is valid for one scheme of a host (RFC 9309 §2.3): there is one for http and one for https.
    New fields are added at the end, with a default, so that older files can still be read.
    """

    robots: dict[str, KnownRobots] = {}
    not_before: float = 0.0  # when the first of the schemes may be asked
    failures: int = 0  # failures in a row, of the scheme with the fewest
    pages: int = 0  # pages answered, in all rounds
    last_seconds: float = 0.0  # the time that the last answer took
    reason: str = ""  # of the last failure: its kind and a sentence (failure_kinds.py); empty after an answer
    ip: str = ""  # the address that answered last
    schemes: dict[str, SchemeState] = {}
    told_at: float = 0.0  # when the state was saved, by the same clock as `not_before`
    left: int = 0  # URLs that were due and were not requested when the last round ended
    left_reason: str = ""  # why most of them were not requested
    sitemaps: KnownSitemaps = KnownSitemaps()
    saved_pages: int = 0  # pages with content in the run that this state was saved with

    def unreached(self, known: HostState) -> HostState:
        """Return the state to save after a first round that reached no host; `known` is the one before.

        The fault is on our side or in the network: so the host gets no back-off, but the reason is kept.
        """
        return msgspec.structs.replace(
            known, reason=self.reason, told_at=self.told_at, left=self.left, left_reason=self.left_reason
        )

    @property
    def crawl_delay(self) -> float:
        """Return the Crawl-delay of robots.txt in seconds, the longer one of both schemes, or 0."""
        return max((known.robots.crawl_delay or 0.0 for known in self.robots.values()), default=0.0)

    def scheme(self, name: str) -> SchemeState:
        """Return the state of a scheme; older files have one count for both schemes."""
        if not self.schemes:
            return SchemeState(failures=self.failures, pages=self.pages)
        return self.schemes.get(name) or SchemeState()

    def corrected(self, not_before: float, now: float, settings: PolitenessSettings) -> float:
        """Return a saved `not_before`, corrected to the clock of today.

        If the clock was ahead when the state was saved, and was set right since, the host must not stay
        closed for that long. Only the length of the pause counts.
        """
        ahead = max(0.0, self.told_at - now)
        longest = max(settings.max_retry_after, settings.max_backoff)
        return min(not_before - ahead, now + longest)

    def without_back_off(self) -> HostState:
        """Return the state of a host that may be asked at once, also for a robots.txt that did not come."""
        schemes = {
            name: msgspec.structs.replace(state, not_before=0.0, failures=0, page_errors=0, robots_tries=0)
            for name, state in self.schemes.items()
        }
        robots = {name: known for name, known in self.robots.items() if not known.robots.try_later}
        return msgspec.structs.replace(self, robots=robots, not_before=0.0, failures=0, schemes=schemes)

    def sitemaps_due(self, now: float, settings: SitemapSettings) -> bool:
        """Return whether the host has sitemaps that are due and may be asked for them soon."""
        may_be_asked = self.not_before <= now + _SOON and settings.max_files > 0
        return may_be_asked and self.sitemaps.are_due(now, settings.interval)


class HostSummary(msgspec.Struct, frozen=True, array_like=True):
    """The fields of a HostState without those that take most of the time to decode; for lists of hosts."""

    robots: msgspec.Raw
    not_before: float = 0.0
    failures: int = 0
    pages: int = 0
    last_seconds: float = 0.0
    reason: str = ""
    ip: str = ""
    schemes: msgspec.Raw = msgspec.Raw(b"\x80")
    told_at: float = 0.0
    left: int = 0
    left_reason: str = ""
    sitemaps: msgspec.Raw = msgspec.Raw(b"\x90")
    saved_pages: int = 0

    @property
    def trouble(self) -> str:
        """The kind of the last failure, such as `dns`; empty after an answer."""
        return kind_of(self.reason) if self.reason else ""


def left_alone_until(row: HostState | HostSummary, robots_retry: float) -> float:
    """Return when a host may be asked again, in UTC seconds; 0 if at once.

    A host is left alone for its back-off, and without a robots.txt for `robots_retry` seconds at least.
    """
    if row.not_before and row.left_reason.startswith(_NO_ROBOTS):
        return max(row.not_before, row.told_at + robots_retry)
    return row.not_before
