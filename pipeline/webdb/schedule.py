"""When to look at a page again: the pace of live pages, the back-off of failing ones, the rest of dead ones.

A live page that changed is visited sooner, one that did not is visited later. With the default factors the
interval settles where about 6 visits in 10 find a change, which is one visit per change for pages
that change at random; Last-Modified plays no part, since servers often make it up.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from crawlctl.pipeline.webdb.records import Status, WebEntry

HOUR = 3600
DAY = 24 * HOUR
MAX_RETRY_LIMIT = 100
MAX_GROWTH = 100
GROWTH_RULE = f"be from 1 to {MAX_GROWTH}"


def _demand(holds: bool, setting: str, rule: str) -> None:
    if not holds:
        raise ConfigError(f"recrawl setting {setting} must {rule}; change it in the configuration")


class Pace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often live pages are visited, in seconds; `minimum` = `maximum` fixes the interval."""

    initial: int = 7 * DAY
    minimum: int = HOUR
    maximum: int = 90 * DAY
    grow: float = 1.4
    shrink: float = 0.8

    def __post_init__(self) -> None:
        _demand(0 < self.minimum <= self.maximum, "minimum", "be above 0 and no more than maximum")
        _demand(self.initial > 0, "initial", "be above 0")
        _demand(1 <= self.grow <= MAX_GROWTH, "grow", GROWTH_RULE)
        _demand(0 < self.shrink <= 1, "shrink", "be above 0 and no more than 1")

    def first(self) -> int:
        """Return the interval of a page that has just been fetched for the first time."""
        return self._clamp(self.initial)

    def adapt(self, interval: int, changed: bool) -> int:
        """Return the interval that follows `interval`; rounding never stops it from moving."""
        return self._clamp(int(interval * self.shrink) if changed else ceil(interval * self.grow))

    def _clamp(self, interval: int) -> int:
        return min(max(interval, self.minimum), self.maximum)


class RecrawlPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of the schedule; times in seconds.

    `hosts` gives single hosts another pace, by host name (with the port, to mean that port only) or by
    `*.domain`, which stands for every host below the domain; the most exact pattern counts.
    """

    pace: Pace = Pace()
    hosts: dict[str, Pace] = {}
    retry_first: int = HOUR  # then 4 h, 16 h, 64 h, 72 h
    retry_growth: float = 4.0
    retry_maximum: int = 3 * DAY
    retry_limit: int = 6  # failures in a row: a site may be down for a week before its documents go
    confirm_after: int = DAY  # a live page that answers 404 or 403 is asked once more
    rest: int = 14 * DAY  # then 21 d, 32 d, 47 d…: some nine requests in two years
    rest_growth: float = 1.5
    rest_maximum: int = 180 * DAY
    jitter: float = 0.1

    def __post_init__(self) -> None:
        _demand(0 < self.retry_first <= self.retry_maximum, "retry_first", "be above 0, up to retry_maximum")
        _demand(1 <= self.retry_growth <= MAX_GROWTH, "retry_growth", GROWTH_RULE)
        _demand(1 <= self.retry_limit <= MAX_RETRY_LIMIT, "retry_limit", f"be from 1 to {MAX_RETRY_LIMIT}")
        _demand(self.confirm_after > 0, "confirm_after", "be above 0")
        _demand(0 < self.rest <= self.rest_maximum, "rest", "be above 0 and no more than rest_maximum")
        _demand(1 <= self.rest_growth <= MAX_GROWTH, "rest_growth", GROWTH_RULE)
        _demand(0 <= self.jitter < 1, "jitter", "be from 0 to less than 1")
        for pattern in self.hosts:
            _demand("*" not in pattern.removeprefix("*."), f"hosts.{pattern}", "be a host or *.domain")

    def pace_of(self, host: str) -> Pace:
        """Return the pace of the pages of `host`."""
        name, colon, port = host.rpartition(":")
        bare = name if colon and port.isdigit() else host
        labels = bare.split(".")
        wildcards = ("*." + ".".join(labels[start:]) for start in range(1, len(labels)))
        for pattern in (host, bare, *wildcards):
            if pattern in self.hosts:
                return self.hosts[pattern]
        return self.pace

    def back_off(self, tries: int) -> int:
        """Return how long to wait after `tries` failures in a row."""
        steps = min(tries, self.retry_limit) - 1
        return int(min(self.retry_first * self.retry_growth**steps, self.retry_maximum))

    def rest_of(self, entry: WebEntry, status: Status) -> int:
        """Return the interval of an entry at rest in `status`: longer each time it is found there again."""
        if entry.status is not status:
            return self.rest
        return min(max(ceil(entry.interval * self.rest_growth), self.rest), self.rest_maximum)

    def spread(self, wait: int, key: bytes) -> int:
        """Return `wait` shortened by a fraction that depends on the key alone.

        Pages that came in together must not fall due together. The fraction is only ever taken off: a page
        to be visited daily would otherwise be due just after each daily run, and visited every other day.
        """
        return wait - int(wait * self.jitter * crc32(key) / 2**32)
