"""Goes on asking an S3 service that is away for a moment, where botocore gives up.

botocore sends a request again a few times, which is over in a second or two when connections are refused. Its
hook for such decisions is used, so that a body is rewound and a request signed again as in its own retries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.store.retry_limits import Patience

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_s3 import S3Client

_OURS = "crawlctl.patience"  # in the context that botocore keeps of a request
_STATUSES = {429, 500, 502, 503, 504}
_CODES = {"SlowDown", "Throttling", "ThrottlingException", "RequestTimeout", "TooManyRequests"}


class S3Patience:
    """Decides for one store whether a request is sent once more; clients of several processes may use it."""

    def __init__(self) -> None:
        self._is_known = False

    def watch(self, client: S3Client) -> None:
        """Have a client ask here, after botocore's own retries are used up."""
        events = client.meta.events
        events.register("after-call.s3", self._note)
        events.register_last("needs-retry.s3", self._decide)  # type: ignore[arg-type]  # it may answer

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
        """Return how long to wait before the request is sent again, None to leave it at this answer."""
        trouble = _trouble_of(response, caught_exception, request_dict.get("url", "S3"))
        if not trouble:
            return None
        context = request_dict.setdefault("context", {})
        patience = context.setdefault(_OURS, Patience(is_known=self._is_known))
        seconds: float | None = patience.pause(trouble)
        return seconds


def _trouble_of(response: tuple[Any, Mapping[str, Any]] | None, caught: Exception | None, url: str) -> str:
    """Return what is wrong, if it may well have passed a little later, else nothing."""
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
