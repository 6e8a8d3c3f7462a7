"""Parses dates as the web writes them: in sitemaps (W3C datetime), feeds, mails and HTTP headers."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

_W3C = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d?)(?:-(?P<day>\d\d?)(?:[T ]"
    r"(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?"
    r"\s*(?P<zone>[Zz]|[+-]\d\d:?\d\d)?)?)?)?",
    re.ASCII,
)

_MAX_DATE = 100  # characters


def parse_lastmod(text: str) -> int | None:
    """Return the start of a W3C datetime in UTC seconds, None if it is no date or lies before 1970.

    Only the year is required; month, day, time and fractions of a second may follow. A missing month or day
    counts as 1, a missing time zone as UTC.
    """
    match = _W3C.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(match[part] or 1) for part in ("year", "month", "day"))
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    try:
        # A leap second is written as 60, which datetime does not accept.
        moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
        stamp = int((moment - _offset(match["zone"] or "Z")).timestamp())
    except (ValueError, OverflowError):
        return None
    return stamp if stamp >= 0 else None


def parse_feed_date(text: str) -> int | None:
    """Return a date of a feed in UTC seconds: as in mails (RSS) or as in sitemaps (Atom)."""
    stamp = parse_lastmod(text)
    return parse_mail_date(text) if stamp is None and text else stamp


def parse_mail_date(text: str) -> int | None:
    """Return a date as in mails and HTTP headers in UTC seconds, None if it is no date or before 1970."""
    return _mail_date(text) if len(text) <= _MAX_DATE else None


@lru_cache(maxsize=1024)
def _mail_date(text: str) -> int | None:
    # The answers of a second have the same Date, and many files of a site the same Last-Modified.
    try:
        moment = parsedate_to_datetime(text)
        # A date without a zone, or with "-0000", is UTC.
        stamp = int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return stamp if stamp >= 0 else None


def _offset(zone: str) -> timedelta:
    if zone in "Zz":
        return timedelta()
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
    return -offset if zone[0] == "-" else offset
