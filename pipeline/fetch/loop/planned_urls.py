"""What a request was made for, as it comes back with the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.http.exchange import Request, RequestKind

if TYPE_CHECKING:
    from crawlctl.pipeline.politeness.polite_queue import Handout
    from crawlctl.pipeline.webdb.records import WebEntry

MAX_ROBOTS_BYTES = 500 << 10  # RFC 9309 §2.5


class RequestPurpose(NamedTuple):
    """A handout of the queue; a page has a key and an entry, a robots.txt may have been redirected."""

    handout: Handout
    key: bytes | None = None
    entry: WebEntry | None = None
    hops: int = 0
    seconds: float = 0.0


def robots_request(url: str, purpose: RequestPurpose) -> Request:
    """Return the request for a robots.txt, at the URL of its host or where that redirects to."""
    return Request(url, RequestKind.ROBOTS, max_bytes=MAX_ROBOTS_BYTES, tag=purpose)
