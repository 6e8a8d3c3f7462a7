"""Request and Answer: the input and the output of the fetch engine."""

from __future__ import annotations

import time
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

import msgspec

_WEEK = 7 * 86_400


class RequestKind(StrEnum):
    """What a URL is fetched as; it decides the Accept header and which limits hold."""

    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"


class ErrorKind(StrEnum):
    """Why a transfer did not end with a complete HTTP answer."""

    BAD_URL = "bad_url"
    UNSUPPORTED_SCHEME = "unsupported_scheme"
    FORBIDDEN_ADDRESS = "forbidden_address"
    DNS = "dns"
    PROXY = "proxy"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    TOO_SLOW = "too_slow"
    # The server kept libcurl inside one call for too long; the watchdog closed the connection.
    STALLED = "stalled"
    TLS = "tls"
    RESET = "reset"
    HEADERS_TOO_LARGE = "headers_too_large"
    BAD_RESPONSE = "bad_response"
    UNWANTED_TYPE = "unwanted_type"
    INTERNAL = "internal"


class Truncation(StrEnum):
    """Why a body is incomplete; the header WARC-Truncated has the same values."""

    LENGTH = "length"
    TIME = "time"
    DISCONNECT = "disconnect"
    UNSPECIFIED = "unspecified"


class FetchError(msgspec.Struct, frozen=True):
    """Why a request failed: a kind for the program and a sentence for the user."""

    kind: ErrorKind
    reason: str


# eq=False compares requests by identity, so a request can be a dict key even if its tag is not hashable.
class Request(msgspec.Struct, frozen=True, eq=False):
    """A URL to fetch; with `etag` or `last_modified` it is fetched only if it has changed since then."""

    url: str
    kind: RequestKind = RequestKind.PAGE
    etag: str | None = None
    last_modified: str | None = None
    # Cut the body at this many bytes; None: at fetch.max_body (http/body.py).
    max_bytes: int | None = None
    # A PDF may have this many bytes even where `max_bytes` is None and fetch.max_body is smaller.
    max_pdf_bytes: int = 0
    # The engine does not read it; the caller finds it again in `Answer.request`.
    tag: Any = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """How a request ended.

    `error` is None if the server sent a complete answer, whatever its status. A body that we cut because it
    is too long is no error either. A body cut by a time-out or by the server has `truncated` and `error`.
    """

    request: Request
    url: str  # the canonical URL that was asked for
    started: float  # seconds since 1970
    seconds: float = 0.0  # from the start of the transfer to its end, without time spent waiting for memory
    error: FetchError | None = None
    status: int = 0
    version: str = ""  # 1.0, 1.1 or 2; empty if there was no answer
    head: bytes = b""  # status line and header lines as received, with the empty line that ends them
    headers: tuple[tuple[str, str], ...] = ()  # the header lines in order, names in lower case
    body: bytes = b""  # without transfer and content encodings
    truncated: Truncation | None = None
    redirect: str | None = None  # the canonical URL that a redirect names; the engine does not follow it
    retry_after: int | None = None  # seconds that the server asks us to wait
    ip: str = ""  # the address of the server; empty behind a proxy
    wire_bytes: int = 0  # bytes received, headers included

    def header(self, name: str) -> str | None:
        """Return the first value of a header; `name` is in lower case."""
        return next((value for key, value in self.headers if key == name), None)

    def all_headers(self, name: str) -> list[str]:
        """Return all values of a header; `name` is in lower case."""
        return [value for key, value in self.headers if key == name]

    @property
    def content_type(self) -> str:
        """The header Content-Type with its parameters, empty if there is none."""
        return self.header("content-type") or ""


def parse_headers(head: bytes | bytearray) -> tuple[tuple[str, str], ...]:
    """Return the header lines of an answer as (name in lower case, value).

    The HTTP standard says latin-1, but header values beyond ASCII are mostly UTF-8. So UTF-8 is tried first.
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
    """Return the seconds that a Retry-After header asks to wait, at most a week; None if it names no time."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        # int() raises for numbers with more than 4,300 digits.
        return min(int(value), _WEEK) if len(value) < 20 else _WEEK
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError, TypeError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)  # dates in HTTP are always in GMT
    wait = moment.timestamp() - (time.time() if now is None else now)
    return min(max(0, round(wait)), _WEEK)
