"""How long to leave a host alone: pure functions of what it asked for and how it is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import PolitenessSettings

TOO_MANY_REQUESTS = 429
FIRST_SERVER_ERROR = 500
UNAVAILABLE = 503


def delay_between(settings: PolitenessSettings, crawl_delay: float, last_seconds: float) -> float:
    """Return the seconds to wait between two requests to a host that is well."""
    return max(
        float(settings.delay),
        min(crawl_delay, settings.max_crawl_delay),
        # A host that answers slowly is small or busy; either way it is given time.
        min(settings.response_factor * last_seconds, settings.max_response_delay),
    )


def delay_between_hosts(settings: PolitenessSettings, tasks: int) -> float:
    """Return the seconds between two requests of this task to a machine that many hosts share.

    Tasks do not know of each other, so each takes its part of the rate. But a machine may have one host only,
    and that one is not to wait longer than its own delay: with many tasks the rate is exceeded.
    """
    return settings.delay * min(1.0, settings.address_factor * tasks)


def backoff_after(settings: PolitenessSettings, failures: int, retry_after: float | None) -> float:
    """Return the seconds to wait after so many failures in a row, the last with this Retry-After."""
    doublings = min(failures - 1, 63)  # keeps the power small; the cap is reached long before
    wait = min(float(settings.backoff * 2**doublings), float(settings.max_backoff))
    return max(wait, min(retry_after or 0.0, settings.max_retry_after))


def longest_patience(settings: PolitenessSettings) -> float:
    """Return the seconds of all back-offs together before a host counts as down."""
    waits = (backoff_after(settings, failures, None) for failures in range(1, settings.max_failures))
    return max(float(settings.patience), sum(waits))


def is_trouble(status: int | None) -> bool:
    """Return whether an answer (None: there was none) says that something is wrong with the server."""
    return status is None or status == TOO_MANY_REQUESTS or status >= FIRST_SERVER_ERROR


def is_of_the_page(status: int | None, retry_after: float | None) -> bool:
    """Return whether trouble may lie with the page alone: its script fails, and the host has answered."""
    is_error = status is not None and status >= FIRST_SERVER_ERROR and status != UNAVAILABLE
    return is_error and retry_after is None


def trouble_of(status: int | None) -> str:
    """Return the words for a failure."""
    return "no answer" if status is None else f"status {status}"
