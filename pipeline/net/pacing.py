"""How long to leave a host alone: pure functions of what it asked for and how it is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlctl.pipeline.config.politeness import PolitenessSettings

TOO_MANY_REQUESTS = 429
FIRST_SERVER_ERROR = 500


def delay_between(settings: PolitenessSettings, crawl_delay: float, last_seconds: float) -> float:
    """Return the seconds to wait between two requests to a host that is well."""
    return max(
        float(settings.delay),
        min(crawl_delay, settings.max_crawl_delay),
        # A host that answers slowly is small or busy; either way it is given time.
        min(settings.response_factor * last_seconds, settings.max_response_delay),
    )


def backoff_after(settings: PolitenessSettings, failures: int, retry_after: float | None) -> float:
    """Return the seconds to wait after so many failures in a row, the last with this Retry-After."""
    doublings = min(failures - 1, 63)  # keeps the power small; the cap is reached long before
    wait = min(float(settings.backoff * 2**doublings), float(settings.max_backoff))
    return max(wait, min(retry_after or 0.0, settings.max_retry_after))


def is_trouble(status: int | None) -> bool:
    """Return whether an answer (None: there was none) says that the host is unwell, not just the page."""
    return status is None or status == TOO_MANY_REQUESTS or status >= FIRST_SERVER_ERROR


def trouble_of(status: int | None) -> str:
    """Return the words for a failure."""
    return "no answer" if status is None else f"status {status}"
