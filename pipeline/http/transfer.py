"""One transfer: a libcurl handle at work on a request, its limits, and the answer it makes."""

from __future__ import annotations

import contextlib
import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pycurl

from crawlctl.pipeline.config.secrets import without_secret
from crawlctl.pipeline.http.body import SNIFFED_BYTES, Body, body_cost, body_limit, must_be_whole, pdf_limit
from crawlctl.pipeline.http.body_budget import Account
from crawlctl.pipeline.http.curl_errors import PROXY_LOGIN, PROXY_WANTS_PASSWORD, failure_of, truncation_of
from crawlctl.pipeline.http.curl_options import accept_headers, conditions
from crawlctl.pipeline.http.dialler import Dialler
from crawlctl.pipeline.http.exchange import (
    Answer,
    ErrorKind,
    FetchError,
    Request,
    RequestKind,
    Truncation,
    parse_headers,
    parse_retry_after,
)
from crawlctl.pipeline.http.redirects import redirect_of
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.config.settings import FetchSettings
    from crawlctl.pipeline.http.addresses import AddressGuard
    from crawlctl.pipeline.http.body_budget import BodyBudget
    from crawlctl.pipeline.http.watchdog import Watchdog

_VERSIONS = {1: "1.0", 2: "1.1", 3: "2"}  # CURL_HTTP_VERSION_*
_ABORT = -1
_CONTENT_TYPE = b"content-type:"
# Added to the bytes of each header line, as HTTP/2 counts the size of headers (RFC 9113 §6.5.2).
_LINE_OVERHEAD = 32
_SHORT_WAIT = 1.0  # seconds; if a body waited longer for memory, a lost connection is our fault


class SharedParts(NamedTuple):
    """The parts of an engine that all its transfers use."""

    settings: FetchSettings
    guard: AddressGuard
    budget: BodyBudget[Transfer]
    watchdog: Watchdog
    paused: list[Transfer]  # transfers that just began to wait for memory; the engine empties the list
    options: tuple[tuple[int, Any], ...]  # of libcurl; to find them out reads files


class Transfer:
    """A handle of libcurl with the state of its current transfer; it is reused for many transfers."""

    def __init__(self, shared: SharedParts) -> None:
        settings = shared.settings
        self._settings = settings
        self._budget = shared.budget
        self._watchdog = shared.watchdog
        self._paused = shared.paused
        self._dialler = Dialler(shared.guard, shared.watchdog, settings.proxy)
        # A body of up to this many bytes fits into the reserve, however long the headers are.
        self._free_size = (shared.budget.reserve - settings.max_header - body_cost(0)) * 8 // 9
        self._skip_types = tuple(name.lower().encode() for name in settings.skip_types)
        self._accept = {kind: accept_headers(kind, settings) for kind in RequestKind}
        self._sent_headers: list[str] | None = None
        self._has_timeout = True
        self.curl = self._new_handle(shared.options)

    def _new_handle(self, options: Iterable[tuple[int, Any]]) -> pycurl.Curl:
        curl = pycurl.Curl()
        for option, value in options:
            curl.setopt(option, value)
        curl.setopt(pycurl.HEADERFUNCTION, self._receive_header)
        curl.setopt(pycurl.WRITEFUNCTION, self._receive_body)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, self._dialler.open_socket)
        return curl

    def start(self, request: Request, url: str) -> None:
        """Prepare the handle for a request; `url` is the canonical form of its URL."""
        self.request = request
        self.host = host_of(url)
        self.url = url
        self.started = time.time()
        self._began = time.monotonic()
        self._waited = 0.0  # seconds in which the body waited for memory
        self._wait_began: float | None = None
        self._max_body = body_limit(request, self._settings.max_body)
        self._head = bytearray()
        self._header_bytes = 0
        self._head_is_whole = False
        self._type = b""
        self._body = Body()
        self._account = Account(self)
        self._failure: FetchError | None = None
        self._is_too_long = False
        self._dialler.begin(self.host)
        self.curl.setopt(pycurl.URL, url)
        if not self._has_timeout:
            self.curl.setopt(pycurl.TIMEOUT_MS, self._settings.timeout.milliseconds)
            self._has_timeout = True
        self._set_headers(request)

    def _set_headers(self, request: Request) -> None:
        headers = self._accept[request.kind]
        if request.etag or request.last_modified:
            headers = headers + conditions(request)
        if headers is not self._sent_headers:
            self.curl.setopt(pycurl.HTTPHEADER, headers)
            self._sent_headers = headers

    def _receive_header(self, line: bytes) -> int | None:
        """Take one line of the headers (also of a 1xx answer) or of the trailers; libcurl calls it."""
        self._header_bytes += len(line) + _LINE_OVERHEAD
        if self._header_bytes > self._settings.max_header:
            reason = (
                f"more than {self._settings.max_header} bytes of headers, "
                f"with {_LINE_OVERHEAD} for each line (fetch.max_header)"
            )
            self._failure = FetchError(ErrorKind.HEADERS_TOO_LARGE, reason)
            return _ABORT
        if self._head_is_whole:
            return None  # a trailer: it counts, but it is not kept
        self._head += line
        if line in (b"\r\n", b"\n"):
            return self._end_head()
        if line[:13].lower() == _CONTENT_TYPE:
            self._type = line[13:].strip().lower()
        return None

    def _end_head(self) -> int | None:
        status = self._head.split(None, 2)[1:2]
        if status and status[0].startswith(b"1"):
            self._head, self._type = bytearray(), b""  # a 1xx answer; the real one follows
            return None
        self._head_is_whole = True
        if (
            self.request.kind is RequestKind.PAGE
            and self._skip_types
            and self._type.startswith(self._skip_types)
        ):
            kind = self._type.decode("latin-1")
            reason = f"{kind} is not downloaded (fetch.skip_types)"
            self._failure = FetchError(ErrorKind.UNWANTED_TYPE, reason)
            return _ABORT
        return None

    def _receive_body(self, chunk: bytes) -> int | None:
        """Take the next bytes of the body, already decompressed; libcurl calls it."""
        body = self._body
        size = body.size + len(chunk)
        if size > self._max_body:
            self._raise_limit_of_pdf(chunk)
        if size > self._free_size and not self._has_room(min(size, self._max_body)):
            return pycurl.WRITEFUNC_PAUSE
        if size > self._max_body:
            body.append(chunk[: self._max_body - body.size])
            self._is_too_long = True
            return _ABORT
        body.append(chunk)
        if body.is_crumbled:
            reason = f"a body in {body.writes} fragments of {body.size / body.writes:.0f} bytes on average"
            self._failure = FetchError(ErrorKind.BAD_RESPONSE, reason)
            return _ABORT
        return None

    def _raise_limit_of_pdf(self, chunk: bytes) -> None:
        """Let the body grow to the limit of a PDF if it is one; called only for bodies over their limit."""
        if must_be_whole(self._body.start(SNIFFED_BYTES) or chunk[:SNIFFED_BYTES]):
            self._max_body = pdf_limit(self.request, self._settings.max_body)

    def _has_room(self, size: int) -> bool:
        """Return whether the memory budget allows a body of this size; if not, the transfer waits."""
        account = self._account
        if self._budget.take(len(self._head) + body_cost(size) - account.held, account):
            return True
        self._wait_began = time.monotonic()
        account.missing = self._announced() - self._body.size
        self._paused.append(self)
        return False

    def _announced(self) -> float:
        """Return the Content-Length, infinity if there is none; a wrong one harms only its own body."""
        length = next((value for name, value in parse_headers(self._head) if name == "content-length"), "")
        return int(length) if length.isascii() and length.isdigit() and len(length) < 20 else math.inf

    def lift_timeout(self) -> None:
        """Switch libcurl's time-out off, because the transfer waits for memory; `is_late` takes over."""
        if self._has_timeout:
            self.curl.setopt(pycurl.TIMEOUT_MS, 0)
            self._has_timeout = False

    def resume(self) -> None:
        """Continue to read a body that had to wait for memory."""
        self._end_wait()
        self._watchdog.begin()
        # The transfer may have timed out meanwhile; then libcurl has closed its connection.
        with contextlib.suppress(pycurl.error):
            self.curl.pause(pycurl.PAUSE_CONT)
        self._watchdog.end()

    def is_late(self, now: float) -> bool:
        """Return whether the transfer took longer than fetch.timeout, not counting its waits for memory."""
        if self._wait_began is not None:
            return False
        return now - self._began - self._waited > self._settings.timeout

    def break_off(self, error: FetchError) -> None:
        """Record why the engine gives up the transfer; the engine calls `finish` next."""
        self._failure = error

    def _end_wait(self) -> None:
        if self._wait_began is not None:
            self._waited += time.monotonic() - self._wait_began
            self._wait_began = None

    def finish(self, code: int, message: str) -> Answer:
        """Return the answer; `code` and `message` are the result of libcurl, 0 means success."""
        get = self.curl.getinfo
        self._end_wait()
        error = self._error(code, message)
        head, status, version = b"", 0, ""
        if self._head_is_whole:
            head, status = bytes(self._head), get(pycurl.RESPONSE_CODE)
            version = _VERSIONS.get(get(pycurl.INFO_HTTP_VERSION), "")
        if error is None and status == PROXY_LOGIN and self._settings.proxy:
            error = PROXY_WANTS_PASSWORD
        headers = parse_headers(head)
        redirect, bad_redirect = redirect_of(self.url, status, headers)
        answer = Answer(
            request=self.request,
            url=self.url,
            started=self.started,
            error=error or bad_redirect,
            status=status,
            version=version,
            head=head,
            headers=headers,
            body=self._body.content(),
            truncated=self._truncation(error),
            redirect=redirect,
            retry_after=parse_retry_after(next((v for name, v in headers if name == "retry-after"), None)),
            ip="" if self._settings.proxy else get(pycurl.PRIMARY_IP),
            seconds=max(0.0, get(pycurl.TOTAL_TIME) - self._waited),
            wire_bytes=get(pycurl.HEADER_SIZE) + get(pycurl.SIZE_DOWNLOAD_T),
        )
        self.stop()
        return answer

    def stop(self) -> None:
        """Drop the body and give its memory back to the budget."""
        self._body = Body()
        self._budget.release(self._account)

    def close(self) -> None:
        """Free the handle."""
        self.curl.close()

    def _error(self, code: int, message: str) -> FetchError | None:
        if self._is_too_long:
            return None
        if code:
            # If we ended the transfer ourselves, libcurl only says that a callback failed.
            return self._failure or self._dialler.failure or self._failure_of(code, message)
        return None if self._head_is_whole else FetchError(ErrorKind.BAD_RESPONSE, "no header in the answer")

    def _failure_of(self, code: int, message: str) -> FetchError:
        proxy = self._settings.proxy
        error = failure_of(code, without_secret(message, proxy), has_proxy=bool(proxy))
        if self._waited > _SHORT_WAIT and error.kind in (ErrorKind.RESET, ErrorKind.TIMEOUT):
            waited = f"after the crawler let it wait {self._waited:.0f} s for memory (fetch.memory)"
            return FetchError(ErrorKind.INTERNAL, f"{error.reason} {waited}")
        return error

    def _truncation(self, error: FetchError | None) -> Truncation | None:
        if self._is_too_long:
            return Truncation.LENGTH
        return truncation_of(error.kind) if error and self._head_is_whole else None
