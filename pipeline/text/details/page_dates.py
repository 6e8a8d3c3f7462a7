"""Reads the dates that pages and servers state, and refuses those that cannot be true.

The forms are ISO 8601 (long and compact), W3C datetime, RFC 822, the form of PDF, and seconds or milliseconds
since 1970. A time without a zone is taken for UTC; that may be wrong by up to 14 hours. A year or month alone
is not a date: shown as the first of January it would say more than the page says.
"""

from __future__ import annotations

import re
import time

from crawlctl.pipeline.formats.web_dates import parse_lastmod, parse_mail_date
from crawlctl.pipeline.text.documents.page import PageDate

_LONGEST = 64  # the most characters of a date
_DAY = 24 * 60 * 60
_EARLIEST = 631_152_000  # 1990-01-01: before that there were no web pages
_CLOCK = 60  # seconds; a date this near to the fetch is only the current time of the server

_COMPACT = re.compile(
    r"(?:D:)?(\d{4})(\d\d)(\d\d)(?:T?(\d\d)(\d\d)(\d\d)?(?:[.,]\d+)?)?\s*(Z|[+-]\d\d(?:'?:?\d\d'?)?)?",
    re.ASCII,
)
_SHORT_ZONE = re.compile(r"(:\d\d(?:[.,]\d+)?\s*[+-]\d\d)$", re.ASCII)  # 12:00+02
_SINCE_1970 = re.compile(r"\d{10}(?:\d{3})?", re.ASCII)
_DAY_ALONE = re.compile(r"\d{4}-\d\d?-\d\d?", re.ASCII)


def parse_date(text: str) -> int | None:
    """Return the UTC seconds of a date, None if it is no date, or only a year or month."""
    text = text.strip()
    if not 8 <= len(text) <= _LONGEST:
        return None
    if _SINCE_1970.fullmatch(text):
        return int(text[:10])
    if _DAY_ALONE.match(text):
        return parse_lastmod(_SHORT_ZONE.sub(r"\1:00", text))
    if compact := _COMPACT.fullmatch(text):
        return _of_compact(compact)
    return parse_mail_date(text)


def _of_compact(match: re.Match[str]) -> int | None:
    year, month, day, hour, minute, second, zone = match.groups("")
    zone = zone.replace("'", "").replace(":", "")
    zone = f"{zone}00" if len(zone) == 3 else zone
    moment = f"T{hour}:{minute}:{second or '00'}{zone}" if hour else ""
    return parse_lastmod(f"{year}-{month}-{day}{moment}")


def believable(text: str, origin: str, fetched_at: int = 0) -> PageDate | None:
    """Return a date as stated by `origin`, None if it is no date or cannot be true.

    It must lie after 1989, and at most a day after `fetched_at` (0 stands for now). A date within a minute of
    the fetch is refused: it is only the time at which the server made the page for this request.
    """
    seconds = parse_date(text)
    return PageDate(seconds, origin) if seconds is not None and is_believable(seconds, fetched_at) else None


def is_believable(seconds: int, fetched_at: int = 0) -> bool:
    """Return whether a page that was fetched at this time (0: now) can have this date."""
    fetched_at = fetched_at or int(time.time())
    return _EARLIEST <= seconds <= fetched_at + _DAY and not is_clock(seconds, fetched_at)


def is_clock(seconds: int, fetched_at: int) -> bool:
    """Return whether a date is only the time at which the page was requested."""
    return abs(seconds - fetched_at) <= _CLOCK


def modified_if_later(published: PageDate | None, modified: PageDate | None) -> PageDate | None:
    """Return the date of the change, None if it lies more than a day before the publication."""
    if published is None or modified is None or modified.seconds >= published.seconds - _DAY:
        return modified
    return None
