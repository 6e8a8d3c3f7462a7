"""The rules of the crawl delay and the back-off: how many seconds a host is left alone.

These are pure functions of the settings, of the Crawl-delay in robots.txt, and of the answers of the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import PolitenessSettings

TOO_MANY_REQUESTS = 429
FIRST_SERVER_ERROR = 500
UNAVAILABLE = 503


def delay_between(settings: PolitenessSettings, robots_delay: float, last_seconds: float) -> float:
    """Return the crawl delay: the seconds between two requests to a host that answers normally.

    It is the longest of three times: politeness.delay; `robots_delay`, the Crawl-delay of robots.txt (at most
    max_crawl_delay); and response_factor times the time of the last answer (at most max_response_delay).
    """
    return max(
        float(settings.delay),
        min(robots_delay, settings.max_crawl_delay),
        # A host that answers slowly is small or busy; in both cases it needs time.
        min(settings.response_factor * last_seconds, settings.max_response_delay),
    )


def delay_between_hosts(settings: PolitenessSettings, tasks: int) -> float:
    """Return the seconds between two requests of this task to a machine that many hosts share.

    A task does not know what other tasks request, so each task uses only its share of the rate. But a machine
    may have only one host, and that host should not wait longer than its own delay. So with many tasks a
    machine may get more requests than address_factor allows.
    """
    return settings.delay * min(1.0, settings.address_factor * tasks)


def backoff_after(settings: PolitenessSettings, failures: int, retry_after: float | None) -> float:
    """Return the back-off: the seconds to wait after `failures` failures in a row.

    The back-off doubles with each failure. `retry_after` is the Retry-After of the last answer, in seconds.
    """
    doublings = min(failures - 1, 63)  # keeps the power small; max_backoff is reached long before
    wait = min(float(settings.backoff * 2**doublings), float(settings.max_backoff))
    return max(wait, min(retry_after or 0.0, settings.max_retry_after))


def longest_patience(settings: PolitenessSettings) -> float:
    """Return for how many seconds a host may fail before it counts as down.

    That is the sum of all back-offs, and at least politeness.patience.
    """
    waits = (backoff_after(settings, failures, None) for failures in range(1, settings.max_failures))
    return max(float(settings.patience), sum(waits))


def is_trouble(status: int | None) -> bool:
    """Return whether a status means trouble with the server; None means that there was no answer."""
    return status is None or status == TOO_MANY_REQUESTS or status >= FIRST_SERVER_ERROR


def is_of_the_page(status: int | None, retry_after: float | None) -> bool:
    """Return whether a failure may be a failure of this page only: the host itself has answered."""
    is_error = status is not None and status >= FIRST_SERVER_ERROR and status != UNAVAILABLE
    return is_error and retry_after is None


def trouble_of(status: int | None) -> str:
    """Return a failure in words for people."""
    return "no answer" if status is None else f"status {status}"
