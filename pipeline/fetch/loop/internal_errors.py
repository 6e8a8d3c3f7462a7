"""The border between strangers and a fetch task: what their bytes make go wrong is a fault of their URL.

No parser is free of faults, and a host sends what it likes. An exception that an answer leads to would end
the task, again in each attempt, and with it the pages of all other hosts. So it becomes the outcome of the
one URL, with a counter that tells the operator. What is wrong with the store is ours, and ends the task.
"""

from __future__ import annotations

import logging

from crawlctl.pipeline.errors import CrawlctlError, UrlError
from crawlctl.pipeline.terminal.printable import blanked

log = logging.getLogger(__name__)

INTERNAL_ERRORS = "internal_errors"  # the counter
_MAX_MESSAGE = 200  # characters of an exception's own words that are kept


def is_ours(error: Exception) -> bool:
    """Whether an exception tells of our store or settings and not of what a host has sent."""
    return isinstance(error, CrawlctlError) and not isinstance(error, UrlError)


def reason_of(error: Exception, url: str) -> str:
    """Return what the outcome of a URL says of an exception, and leave its traceback in the log."""
    log.debug("%s: an answer could not be dealt with", url, exc_info=error)
    try:
        words = str(error)
    except Exception:  # the error of a library may be as broken as what it tells of
        words = ""
    message = blanked(words[:_MAX_MESSAGE])
    return f"internal error: {type(error).__name__}: {message}".rstrip(": ")
