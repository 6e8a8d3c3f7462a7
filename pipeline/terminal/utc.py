"""Times as people read them."""

from __future__ import annotations

import time


def utc(seconds: float) -> str:
    """Return seconds since 1970 as a date and time in UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
