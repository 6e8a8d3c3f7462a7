"""What the fetch engine is asked and what it answers."""

from __future__ import annotations

import time
from datetime import timezone
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any

import msgspec

_WEEK = 7 * 86_400


class RequestKind(str, Enum):
    """What a URL is fetched for."""

    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"


class ErrorKind(str, Enum):
    """Why a transfer did not end as HTTP says it should."""

    BAD_URL = "bad_url"
    UNSUPPORTED_SCHEME = "unsupported_scheme"
    FORBIDDEN_ADDRESS = "forbidden_address"
    DNS = "dns"
    PROXY = "proxy"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    TOO_SLOW = "too_slow"
    # It kept the library busy inside one call, past its time-out; the watchdog broke the connection off.
    STALLED = "stalled"
    TLS = "tls"
    RESET = "reset"
    HEADERS_TOO_LARGE = "headers_too_large"
    BAD_RESPONSE = "bad_response"
    UNWANTED_TYPE = "unwanted_type"
    INTERNAL = "internal"


class Truncation(str, Enum):
    """Why a body is not whole, in the words of WARC."""

    LENGTH = "length"
    TIME = "time"
    DISCONNECT = "disconnect"
    UNSPECIFIED = "unspecified"


class FetchError(msgspec.Struct, frozen=True):
    """What went wrong, for the program and for its user."""

    kind: ErrorKind
    reason: str


# Without eq, a request is itself and nothing else: it can be a key, whatever its tag is.
class Request(msgspec.Struct, frozen=True, eq=False):
    """A URL to fetch; `etag` and `last_modified` ask for it only if it has changed since."""

    url: str
    kind: RequestKind = RequestKind.PAGE
    etag: str | None = None
    last_modified: str | None = None
    # Cut the body off here; None means at fetch.max_body.
    max_bytes: int | None = None
    # Whatever the caller wants to find in the answer again.
    tag: Any = None


class Timing(msgspec.Struct, frozen=True):
    """Seconds from the start of a transfer."""

    connect: float = 0.0
    first_byte: float = 0.0
    total: float = 0.0


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """How a request ended.

    `error` is None if the server gave a whole answer, whatever its status.  A body that was cut off because
    of its length is no error either; one cut off by time or by the server has both `truncated` and `error`.
    """

    request: Request
    # The canonical URL that was asked for.
    url: str
    # Seconds since 1970.
    started: float
    error: FetchError | None = None
    status: int = 0
    # 1.0, 1.1 or 2; empty if there was no answer.
    version: str = ""
    # The status line and header lines as they came, with the empty line behind them.
    head: bytes = b""
    # The same with names in lower case, in order.
    headers: tuple[tuple[str, str], ...] = ()
    # Without chunks and content encodings.
    body: bytes = b""
    truncated: Truncation | None = None
    # Canonical, where a redirect leads; nobody has followed it.
    redirect: str | None = None
    # Seconds the server asked us to wait.
    retry_after: int | None = None
    # Of the server; empty behind a proxy.
    ip: str = ""
    timing: Timing = Timing()
    wire_bytes: int = 0

    def header(self, name: str) -> str | None:
        """Return the first value of a header named in lower case."""
        return next((value for key, value in self.headers if key == name), None)

    def all_headers(self, name: str) -> list[str]:
        """Return every value of a header named in lower case."""
        return [value for key, value in self.headers if key == name]

    @property
    def content_type(self) -> str:
        """What the server says the body is, with its parameters."""
        return self.header("content-type") or ""


def parse_headers(head: bytes | bytearray) -> tuple[tuple[str, str], ...]:
    """Return the header lines of a response as (name in lower case, value).

    Headers are latin-1 by the letter, but where they are not ASCII they mostly come in UTF-8.
    """
    try:
        lines = head.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        lines = head.decode("latin-1").split("\n")
    headers: list[tuple[str, str]] = []
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and headers:
            headers[-1] = (headers[-1][0], f"{headers[-1][1]} {line.strip()}".strip())
        elif colon:
            headers.append((name.strip().lower(), value.strip()))
    return tuple(headers)


def parse_retry_after(value: str | None, now: float | None = None) -> int | None:
    """Return the seconds a Retry-After header asks to wait, at most a week; None if it says nothing."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        # int() refuses numbers of some thousand digits.
        return min(int(value), _WEEK) if len(value) < 20 else _WEEK
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError, TypeError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)  # a date of HTTP is always one of Greenwich
    wait = moment.timestamp() - (time.time() if now is None else now)
    return min(max(0, round(wait)), _WEEK)
