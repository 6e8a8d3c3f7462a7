"""Retries S3 requests after botocore has given up.

botocore sends a request again a few times. If connections are refused, it gives up after a second or two. We
use botocore's own hook for retries, so that it rewinds the body and signs the request again as usual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.store.retry_limits import RetryLimit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_s3 import S3Client

_LIMIT = "crawlctl.retry_limit"  # key in the context that botocore keeps per request
_STATUSES = {429, 500, 502, 503, 504}
_CODES = {"SlowDown", "Throttling", "ThrottlingException", "RequestTimeout", "TooManyRequests"}


class S3Retries:
    """Decides for one store whether a request is sent again; it knows whether the service ever answered."""

    def __init__(self) -> None:
        self._is_known = False

    def watch(self, client: S3Client) -> None:
        """Make a client ask this object after botocore's own retries."""
        events = client.meta.events
        events.register("after-call.s3", self._note)
        events.register_last("needs-retry.s3", self._decide)  # type: ignore[arg-type]  # it may return a pause

    def _note(self, http_response: Any, **_: object) -> None:
        if http_response.status_code < 500:
            self._is_known = True

    def _decide(
        self,
        response: tuple[Any, Mapping[str, Any]] | None,
        caught_exception: Exception | None,
        request_dict: dict[str, Any],
        **_: object,
    ) -> float | None:
        """Return the seconds to wait before the request is sent again, or None to accept this answer."""
        trouble = _trouble_of(response, caught_exception, request_dict.get("url", "S3"))
        if not trouble:
            return None
        context = request_dict.setdefault("context", {})
        limit = context.setdefault(_LIMIT, RetryLimit(is_known=self._is_known))
        pause: float | None = limit.next_pause(trouble)
        return pause


def _trouble_of(response: tuple[Any, Mapping[str, Any]] | None, caught: Exception | None, url: str) -> str:
    """Return what went wrong if a later try may succeed, else an empty string."""
    from botocore.exceptions import (
        ConnectionClosedError,
        ConnectTimeoutError,
        EndpointConnectionError,
        ReadTimeoutError,
    )

    passing = (ConnectionClosedError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError)
    if isinstance(caught, passing):
        return " ".join(str(caught).split())
    if response is None:
        return ""
    status = response[0].status_code
    code = response[1].get("Error", {}).get("Code", "")
    return f"{url}: answered {status} {code}" if status in _STATUSES or code in _CODES else ""
