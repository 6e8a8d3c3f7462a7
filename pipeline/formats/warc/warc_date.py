"""Dates of web archives (WARC-Date): UTC, whole seconds, such as `2026-05-09T12:00:31Z`."""

from __future__ import annotations

from calendar import timegm
from time import gmtime, strftime, strptime

_FORM = "%Y-%m-%dT%H:%M:%SZ"


def warc_date(moment: float) -> str:
    """Return seconds since 1970 as a WARC-Date."""
    return strftime(_FORM, gmtime(moment))


def seconds_of(date: str) -> int:
    """Return the seconds since 1970 of a WARC-Date that we have written; raise ValueError for other texts."""
    return timegm(strptime(date, _FORM))
