"""Turns an exception that an answer caused in our code into the outcome of one URL.

No parser is free of bugs, and a host can send any bytes. An exception would end the task, in each attempt
again, and the pages of all other hosts would be lost. So the exception becomes the outcome of its URL, and a
counter tells the operator. Errors of the store or the settings are not caused by hosts; they end the task.
"""

from __future__ import annotations

import logging

from crawlctl.pipeline.errors import CrawlctlError, UrlError
from crawlctl.pipeline.terminal.printable import blanked

log = logging.getLogger(__name__)

INTERNAL_ERRORS = "internal_errors"  # the name of the counter
_MAX_MESSAGE = 200  # characters of the exception's message that are kept


def is_ours(error: Exception) -> bool:
    """Return whether an exception is about our store or settings, not about the bytes of a host."""
    return isinstance(error, CrawlctlError) and not isinstance(error, UrlError)


def reason_of(error: Exception, url: str) -> str:
    """Return the reason of an outcome for an exception; the traceback goes to the debug log."""
    log.debug("%s: an answer could not be handled", url, exc_info=error)
    try:
        words = str(error)
    except Exception:  # str() of a library's exception may fail too
        words = ""
    message = blanked(words[:_MAX_MESSAGE])
    return f"internal error: {type(error).__name__}: {message}".rstrip(": ")
