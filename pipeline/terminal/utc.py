"""Times as people read them, in UTC."""

from __future__ import annotations

import time

UTC_FORMAT = "%Y-%m-%d %H:%M:%S UTC"


def utc(seconds: float) -> str:
    """Return seconds since 1970 as a date and time, such as `2026-05-09 12:00:31 UTC`."""
    return time.strftime(UTC_FORMAT, time.gmtime(seconds))


def utc_minute(seconds: float) -> str:
    """Return seconds since 1970 as a date and time without seconds, such as `2026-05-09 12:00 UTC`."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def utc_short(seconds: float) -> str:
    """Return seconds since 1970 as month, day and minute, for narrow columns, such as `05-09 12:00`."""
    return time.strftime("%m-%d %H:%M", time.gmtime(seconds))


def utc_day(seconds: float) -> str:
    """Return seconds since 1970 as a date, such as `2026-05-09`."""
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def utc_iso(seconds: float) -> str:
    """Return seconds since 1970 as in ISO 8601: `2026-05-09T12:00:31Z`, and `2026-05-09` at midnight."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)).removesuffix("T00:00:00Z")
