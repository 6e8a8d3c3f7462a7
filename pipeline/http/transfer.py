"""One transfer: a reused libcurl handle, the bounds it is held to, and the answer it comes to."""

from __future__ import annotations

import contextlib
import math
import socket
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pycurl

from crawlctl.pipeline.config.secrets import without_secret
from crawlctl.pipeline.http.body import Body, body_cost
from crawlctl.pipeline.http.body_budget import Account
from crawlctl.pipeline.http.curl_errors import failure_of, truncation_of
from crawlctl.pipeline.http.curl_options import accept_headers, common_options, conditions
from crawlctl.pipeline.http.exchange import (
    Answer,
    ErrorKind,
    FetchError,
    Request,
    RequestKind,
    Timing,
    Truncation,
    parse_headers,
    parse_retry_after,
)
from crawlctl.pipeline.http.redirects import redirect_of
from crawlctl.pipeline.http.watchdog import Dialled
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import FetchSettings
    from crawlctl.pipeline.http.addresses import AddressGuard
    from crawlctl.pipeline.http.body_budget import BodyBudget
    from crawlctl.pipeline.http.watchdog import Watchdog

_VERSIONS = {1: "1.0", 2: "1.1", 3: "2"}  # CURL_HTTP_VERSION_*
_ABORT = -1
_CONTENT_TYPE = b"content-type:"
# What a header line takes beyond its bytes, by the reckoning of HTTP/2 (RFC 9113 §6.5.2).
_LINE_OVERHEAD = 32
_SHORT_WAIT = 1.0  # second; after a longer one for memory, a lost connection is no fault of the server


class Shared(NamedTuple):
    """What all transfers of an engine have in common."""

    settings: FetchSettings
    guard: AddressGuard
    budget: BodyBudget[Transfer]
    watchdog: Watchdog
    # Transfers that have just begun to wait for memory, for the engine to take.
    paused: list[Transfer]


class Transfer:
    """A handle of libcurl with all that one transfer after the other needs."""

    def __init__(self, shared: Shared) -> None:
        settings = shared.settings
        self._settings = settings
        self._guard = shared.guard
        self._budget = shared.budget
        self._watchdog = shared.watchdog
        self._paused = shared.paused
        # Bodies up to this size, with any headers, fit into the reserve.
        self._free_size = (shared.budget.reserve - settings.max_header - body_cost(0)) * 8 // 9
        self._skip_types = tuple(name.lower().encode() for name in settings.skip_types)
        self._accept = {kind: accept_headers(kind, settings) for kind in RequestKind}
        self._sent_headers: list[str] | None = None
        self._has_timeout = True
        self.curl = self._new_handle()

    def _new_handle(self) -> pycurl.Curl:
        curl = pycurl.Curl()
        for option, value in common_options(self._settings):
            curl.setopt(option, value)
        curl.setopt(pycurl.HEADERFUNCTION, self._receive_header)
        curl.setopt(pycurl.WRITEFUNCTION, self._receive_body)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        return curl

    def start(self, request: Request, url: str) -> None:
        """Make the handle ready for a request to a canonical URL."""
        self.request = request
        self.host = host_of(url)
        self._url = url
        self._started = time.time()
        self._began = time.monotonic()
        self._waited = 0.0  # seconds, for memory
        self._wait_began: float | None = None
        limit = self._settings.max_body
        self._max_body = limit if request.max_bytes is None else min(limit, request.max_bytes)
        self._head = bytearray()
        self._header_bytes = 0
        self._head_is_whole = False
        self._type = b""
        self._body = Body()
        self._account = Account(self)
        self._failure: FetchError | None = None
        self._is_too_long = False
        self._has_dialled = False
        self.curl.setopt(pycurl.URL, url)
        if not self._has_timeout:
            self.curl.setopt(pycurl.TIMEOUT_MS, self._settings.timeout * 1000)
            self._has_timeout = True
        self._set_headers(request)

    def _set_headers(self, request: Request) -> None:
        headers = self._accept[request.kind]
        if request.etag or request.last_modified:
            headers = headers + conditions(request)
        if headers is not self._sent_headers:
            self.curl.setopt(pycurl.HTTPHEADER, headers)
            self._sent_headers = headers

    def _open_socket(self, purpose: int, address: Any) -> int:
        """Open a socket to an address if it may be dialled; called for each that libcurl tries."""
        family, kind, protocol, where = address
        refused = self._refusal(family, where)
        if refused is not None:
            if not self._has_dialled:
                self._failure = refused
            return pycurl.SOCKET_BAD
        try:
            opened = socket.socket(family, kind, protocol)
        except OSError as err:
            reason = f"no socket: {err.strerror}; raise `ulimit -n` or lower fetch.connections"
            self._failure = FetchError(ErrorKind.INTERNAL, reason)
            return pycurl.SOCKET_BAD
        # Another address of the same name may have been refused; from now on it is this one that counts.
        self._has_dialled, self._failure = True, None
        self._watchdog.dialled(opened.fileno(), Dialled(self.host, where[:2]))
        return opened.detach()

    def _refusal(self, family: int, where: Any) -> FetchError | None:
        """Return why an address is not dialled."""
        if self._settings.proxy:
            return None  # the operator named it, and mostly it lies in a private network
        reason = self._guard.refusal(where[0]) if family in (socket.AF_INET, socket.AF_INET6) else "not IP"
        if reason is not None:
            return FetchError(ErrorKind.FORBIDDEN_ADDRESS, reason)
        reason = self._watchdog.refusal(where[:2])
        return FetchError(ErrorKind.STALLED, reason) if reason is not None else None

    def _receive_header(self, line: bytes) -> int | None:
        """Take one line of an interim or final header, or of a trailer."""
        self._header_bytes += len(line) + _LINE_OVERHEAD
        if self._header_bytes > self._settings.max_header:
            reason = (
                f"more than {self._settings.max_header} bytes of headers, "
                f"with {_LINE_OVERHEAD} for each line (fetch.max_header)"
            )
            self._failure = FetchError(ErrorKind.HEADERS_TOO_LARGE, reason)
            return _ABORT
        if self._head_is_whole:
            return None  # a trailer, which counts and is not kept
        self._head += line
        if line in (b"\r\n", b"\n"):
            return self._end_head()
        if line[:13].lower() == _CONTENT_TYPE:
            self._type = line[13:].strip().lower()
        return None

    def _end_head(self) -> int | None:
        status = self._head.split(None, 2)[1:2]
        if status and status[0].startswith(b"1"):
            self._head, self._type = bytearray(), b""  # an interim answer; another one follows
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
        """Take a piece of the body, with its encodings undone."""
        body = self._body
        size = body.size + len(chunk)
        if size > self._free_size and not self._has_room(min(size, self._max_body)):
            return pycurl.WRITEFUNC_PAUSE
        if size > self._max_body:
            body.append(chunk[: self._max_body - body.size])
            self._is_too_long = True
            return _ABORT
        body.append(chunk)
        if body.is_crumbled:
            reason = f"a body in {body.pieces} pieces of {body.size / body.pieces:.0f} bytes on average"
            self._failure = FetchError(ErrorKind.BAD_RESPONSE, reason)
            return _ABORT
        return None

    def _has_room(self, size: int) -> bool:
        """Return whether there is memory for a body of this size, beyond what each transfer may have."""
        account = self._account
        if self._budget.take(len(self._head) + body_cost(size) - account.held, account):
            return True
        self._wait_began = time.monotonic()
        account.missing = self._announced() - self._body.size
        self._paused.append(self)
        return False

    def _announced(self) -> float:
        """Return the length that the server has announced; a wrong one only harms its own body."""
        length = next((value for name, value in parse_headers(self._head) if name == "content-length"), "")
        return int(length) if length.isascii() and length.isdigit() and len(length) < 20 else math.inf

    def lift_timeout(self) -> None:
        """Keep libcurl from counting the time that the transfer waits; from now on `is_late` tells."""
        if self._has_timeout:
            self.curl.setopt(pycurl.TIMEOUT_MS, 0)
            self._has_timeout = False

    def resume(self) -> None:
        """Go on reading a body that had to wait for memory."""
        self._end_wait()
        self._watchdog.begin()
        # It may have run out of time as well; then libcurl has no connection left to go on with.
        with contextlib.suppress(pycurl.error):
            self.curl.pause(pycurl.PAUSE_CONT)
        self._watchdog.end()

    def is_late(self, now: float) -> bool:
        """Whether a transfer has had its time (fetch.timeout), without that in which we let it wait."""
        if self._wait_began is not None:
            return False
        return now - self._began - self._waited > self._settings.timeout

    def break_off(self, error: FetchError) -> None:
        """Note why the engine gives the transfer up; `finish` follows."""
        self._failure = error

    def _end_wait(self) -> None:
        if self._wait_began is not None:
            self._waited += time.monotonic() - self._wait_began
            self._wait_began = None

    def finish(self, code: int, message: str) -> Answer:
        """Return the answer, given how the transfer ended for libcurl (0 is well)."""
        get = self.curl.getinfo
        self._end_wait()
        error = self._error(code, message)
        head, status, version = b"", 0, ""
        if self._head_is_whole:
            head, status = bytes(self._head), get(pycurl.RESPONSE_CODE)
            version = _VERSIONS.get(get(pycurl.INFO_HTTP_VERSION), "")
        headers = parse_headers(head)
        redirect, bad_redirect = redirect_of(self._url, status, headers)
        answer = Answer(
            request=self.request,
            url=self._url,
            started=self._started,
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
            timing=Timing(
                get(pycurl.CONNECT_TIME),
                get(pycurl.STARTTRANSFER_TIME),
                max(0.0, get(pycurl.TOTAL_TIME) - self._waited),
            ),
            wire_bytes=get(pycurl.HEADER_SIZE) + get(pycurl.SIZE_DOWNLOAD_T),
        )
        self.stop()
        return answer

    def stop(self) -> None:
        """Let go of the body, whether it is in an answer by now or not."""
        self._body = Body()
        self._budget.release(self._account)

    def close(self) -> None:
        """Free the handle."""
        self.curl.close()

    def _error(self, code: int, message: str) -> FetchError | None:
        if self._is_too_long:
            return None
        if code:
            # Where we broke it off ourselves, libcurl only says that a callback failed.
            return self._failure or self._failure_of(code, message)
        return None if self._head_is_whole else FetchError(ErrorKind.BAD_RESPONSE, "no header in the answer")

    def _failure_of(self, code: int, message: str) -> FetchError:
        error = failure_of(code, without_secret(message, self._settings.proxy))
        if self._waited > _SHORT_WAIT and error.kind in (ErrorKind.RESET, ErrorKind.TIMEOUT):
            waited = f"after it had waited {self._waited:.0f} s for memory of ours (fetch.memory)"
            return FetchError(ErrorKind.INTERNAL, f"{error.reason} {waited}")
        return error

    def _truncation(self, error: FetchError | None) -> Truncation | None:
        if self._is_too_long:
            return Truncation.LENGTH
        return truncation_of(error.kind) if error and self._head_is_whole else None
