"""Problem: why a request is refused, with the status and the text that the client gets (RFC 9457)."""

from __future__ import annotations

import math
from http import HTTPStatus

from crawlctl.pipeline.errors import CrawlctlError, NothingMatched, QueryError
from crawlctl.pipeline.serve.fault_log import FAULTS


class Problem(Exception):
    """A request that cannot be answered; `detail` is the text for the client, a person or a program.

    `retry_after` is in seconds, 0 if asking again would not help. `caret` shows the query, and in a second
    line a caret below the fault.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        retry_after: float = 0,
        caret: str = "",
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.caret = caret
        self.headers = dict(headers or {})
        if retry_after:
            self.headers["Retry-After"] = str(math.ceil(retry_after))

    @property
    def title(self) -> str:
        """The name of the status, such as `Bad Request`."""
        return HTTPStatus(self.status).phrase


RETRY_AFTER = 5.0  # seconds, if no better estimate is known


def problem_of(error: CrawlctlError) -> Problem:
    """Return the problem that a client gets for an error; only the operator is told files of the store."""
    if isinstance(error, QueryError):
        reason, _, caret = str(error).partition("\n")
        return Problem(HTTPStatus.BAD_REQUEST, reason, caret=caret)
    if isinstance(error, NothingMatched):
        return Problem(HTTPStatus.NOT_FOUND, str(error))
    FAULTS.tell(error)
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "the index cannot be read at the moment; ask again in some seconds",
        retry_after=RETRY_AFTER,
    )
