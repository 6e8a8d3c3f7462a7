"""The settings of the schedule that pipeline/webdb/recrawl_schedule.py follows."""

from __future__ import annotations

import msgspec

from crawlctl.pipeline.config.section import Section, demand
from crawlctl.pipeline.config.units import DAY, HOUR, Duration

MAX_RETRY_LIMIT = 100


class Pace(Section, frozen=True):
    """How often live pages are visited; `minimum` = `maximum` fixes the interval."""

    initial: Duration = Duration(7 * DAY)
    minimum: Duration = Duration(HOUR)
    maximum: Duration = Duration(90 * DAY)
    grow: float = 1.4
    shrink: float = 0.8

    def __post_init__(self) -> None:
        demand(0 < self.minimum <= self.maximum, "minimum", "be above 0 and no more than maximum")
        demand(self.initial > 0, "initial", "be above 0")
        demand(1 <= self.grow < float("inf"), "grow", "be 1 or more")
        demand(0 < self.shrink <= 1, "shrink", "be above 0 and no more than 1")


class RecrawlSettings(Section, frozen=True):
    """When pages are looked at again.

    `hosts` gives single hosts another pace, by host name (with the port, to mean that port only) or by
    `*.domain`, which stands for every host below the domain; the most exact pattern counts.
    """

    pace: Pace = Pace()
    hosts: dict[str, Pace] = msgspec.field(default_factory=dict)
    retry_first: Duration = Duration(HOUR)  # then 4 h, 16 h, 64 h, 72 h
    retry_growth: float = 4.0
    retry_maximum: Duration = Duration(3 * DAY)
    retry_limit: int = 6  # failures in a row: a site may be down for a week before its documents go
    confirm_after: Duration = Duration(DAY)  # a live page that answers 404 or 403 is asked once more
    rest: Duration = Duration(14 * DAY)  # then 21 d, 32 d, 47 d…: some nine requests in two years
    rest_growth: float = 1.5
    rest_maximum: Duration = Duration(180 * DAY)
    jitter: float = 0.1

    def __post_init__(self) -> None:
        demand(0 < self.retry_first <= self.retry_maximum, "retry_first", "be above 0, up to retry_maximum")
        demand(1 <= self.retry_growth < float("inf"), "retry_growth", "be 1 or more")
        demand(1 <= self.retry_limit <= MAX_RETRY_LIMIT, "retry_limit", f"be from 1 to {MAX_RETRY_LIMIT}")
        demand(self.confirm_after > 0, "confirm_after", "be above 0")
        demand(0 < self.rest <= self.rest_maximum, "rest", "be above 0 and no more than rest_maximum")
        demand(1 <= self.rest_growth < float("inf"), "rest_growth", "be 1 or more")
        demand(0 <= self.jitter < 1, "jitter", "be from 0 to less than 1")
        for pattern in self.hosts:
            demand("*" not in pattern.removeprefix("*."), f"hosts.{pattern}", "be a host or *.domain")
