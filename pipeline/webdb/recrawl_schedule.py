"""When a page is visited again: the intervals of live pages, failing pages and pages at rest.

A live page that has changed is visited sooner next time, a page that has not changed is visited later. With
the default factors the interval settles where about 6 of 10 visits find a change. That is one visit per
change for pages that change at random times. Last-Modified is not used, because servers often make it up.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import Pace, RecrawlSettings
    from crawlctl.pipeline.webdb.records import Status, WebEntry


def first_interval(pace: Pace) -> int:
    """Return the interval, in seconds, of a page that has just been fetched for the first time."""
    return _clamp(pace, pace.initial.whole)


def adapt(pace: Pace, interval: int, changed: bool) -> int:
    """Return the interval that follows `interval`; rounding never leaves it unchanged."""
    return _clamp(pace, int(interval * pace.shrink) if changed else ceil(interval * pace.grow))


def _clamp(pace: Pace, interval: int) -> int:
    return min(max(interval, pace.minimum.whole), pace.maximum.whole)


def pace_of(settings: RecrawlSettings, host: str) -> Pace:
    """Return the pace of the pages of `host`."""
    name, colon, port = host.rpartition(":")
    bare = name if colon and port.isdigit() else host
    labels = bare.split(".")
    wildcards = ("*." + ".".join(labels[start:]) for start in range(1, len(labels)))
    for pattern in (host, bare, *wildcards):
        if pattern in settings.hosts:
            return settings.hosts[pattern]
    return settings.pace


def back_off(settings: RecrawlSettings, tries: int) -> int:
    """Return the seconds to wait after `tries` failures in a row."""
    steps = min(tries, settings.retry_limit) - 1
    return ceil(min(settings.retry_first * settings.retry_growth**steps, settings.retry_maximum))


def rest_of(settings: RecrawlSettings, entry: WebEntry, status: Status) -> int:
    """Return the interval of an entry at rest in `status`; it grows each time the status is found again."""
    if entry.status is not status:
        return settings.rest.whole
    longer = max(ceil(entry.interval * settings.rest_growth), settings.rest.whole)
    return min(longer, settings.rest_maximum.whole)


def spread(settings: RecrawlSettings, wait: int, key: bytes) -> int:
    """Return `wait` made shorter by a fraction that depends only on the key.

    Pages that were fetched together should not all be due together. The wait never becomes longer: otherwise
    a page with an interval of a day could be due just after the daily run, and be visited every other day.
    """
    return wait - int(wait * settings.jitter * crc32(key) / 2**32)
