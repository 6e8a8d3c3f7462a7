"""One transfer: a reused libcurl handle, the bounds it is held to, and the answer it comes to."""

from __future__ import annotations

import contextlib
import socket
import time
from typing import TYPE_CHECKING, Any

import pycurl

from crawlctl.pipeline.net.answer import (
    Answer,
    ErrorKind,
    FetchError,
    Kind,
    Request,
    Timing,
    Truncation,
    parse_headers,
    parse_retry_after,
)
from crawlctl.pipeline.net.asking import accept_headers, common_options, conditions
from crawlctl.pipeline.net.failures import failure_of, truncation_of
from crawlctl.pipeline.net.redirects import redirect_of

if TYPE_CHECKING:
    from crawlctl.pipeline.config.fetch import FetchSettings
    from crawlctl.pipeline.net.addresses import AddressGuard
    from crawlctl.pipeline.net.memory import BodyBudget

_VERSIONS = {1: "1.0", 2: "1.1", 3: "2"}  # CURL_HTTP_VERSION_*
_ABORT = -1
_CONTENT_TYPE = b"content-type:"


class Transfer:
    """A handle of libcurl with all that one transfer after the other needs."""

    def __init__(self, settings: FetchSettings, guard: AddressGuard, budget: BodyBudget) -> None:
        self._settings = settings
        self._guard = guard
        self._budget = budget
        self._skip_types = tuple(name.lower().encode() for name in settings.skip_types)
        self._accept = {kind: accept_headers(kind, settings) for kind in Kind}
        self._sent_headers: list[str] | None = None
        self.curl = self._new_handle()

    def _new_handle(self) -> pycurl.Curl:
        curl = pycurl.Curl()
        for option, value in common_options(self._settings):
            curl.setopt(option, value)
        curl.setopt(pycurl.HEADERFUNCTION, self._receive_header)
        curl.setopt(pycurl.WRITEFUNCTION, self._receive_body)
        if not self._settings.proxy:
            # The proxy itself was named by the operator and mostly lies in a private network.
            curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        return curl

    def start(self, request: Request, url: str) -> None:
        """Make the handle ready for a request to a canonical URL."""
        self.request = request
        self._url = url
        self._started = time.time()
        limit = self._settings.max_body
        self._max_body = limit if request.max_bytes is None else min(limit, request.max_bytes)
        self._lines: list[bytes] = []
        self._header_bytes = 0
        self._head_is_whole = False
        self._type = b""
        self._chunks: list[bytes] = []
        self._body_bytes = 0
        self._failure: FetchError | None = None
        self._is_too_long = False
        self._has_dialled = False
        self.curl.setopt(pycurl.URL, url)
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
        refusal = self._guard.refusal(where[0]) if family in (socket.AF_INET, socket.AF_INET6) else "not IP"
        if refusal is not None:
            if not self._has_dialled:
                self._failure = FetchError(ErrorKind.FORBIDDEN_ADDRESS, refusal)
            return pycurl.SOCKET_BAD
        try:
            opened = socket.socket(family, kind, protocol)
        except OSError as err:
            reason = f"no socket: {err.strerror}; raise `ulimit -n` or lower fetch.connections"
            self._failure = FetchError(ErrorKind.INTERNAL, reason)
            return pycurl.SOCKET_BAD
        # Another address of the same name may have been refused; from now on it is this one that counts.
        self._has_dialled, self._failure = True, None
        return opened.detach()

    def _receive_header(self, line: bytes) -> int | None:
        """Take one line of an interim or final header, or of a trailer."""
        self._header_bytes += len(line)
        if self._header_bytes > self._settings.max_header:
            reason = f"more than {self._settings.max_header} bytes of headers (fetch.max_header)"
            self._failure = FetchError(ErrorKind.HEADERS_TOO_LARGE, reason)
            return _ABORT
        if self._head_is_whole:
            return None  # a trailer, which counts and is not kept
        self._lines.append(line)
        if line in (b"\r\n", b"\n"):
            return self._end_head()
        if line[:13].lower() == _CONTENT_TYPE:
            self._type = line[13:].strip().lower()
        return None

    def _end_head(self) -> int | None:
        status = self._lines[0].split(None, 2)[1:2]
        if status and status[0].startswith(b"1"):
            self._lines, self._type = [], b""  # an interim answer; another one follows
            return None
        self._head_is_whole = True
        if self.request.kind is Kind.PAGE and self._skip_types and self._type.startswith(self._skip_types):
            kind = self._type.decode("latin-1")
            reason = f"{kind} is not downloaded (fetch.skip_types)"
            self._failure = FetchError(ErrorKind.UNWANTED_TYPE, reason)
            return _ABORT
        return None

    def _receive_body(self, chunk: bytes) -> int | None:
        """Take a piece of the body, with its encodings undone."""
        room = self._max_body - self._body_bytes
        size = min(len(chunk), room)
        if not self._budget.take(size, self):
            return pycurl.WRITEFUNC_PAUSE
        self._body_bytes += size
        if size < len(chunk):
            self._chunks.append(chunk[:size])
            self._is_too_long = True
            return _ABORT
        self._chunks.append(chunk)
        return None

    def resume(self) -> None:
        """Go on reading a body that had to wait for memory."""
        # It may have run out of time as well; then libcurl has no connection left to go on with.
        with contextlib.suppress(pycurl.error):
            self.curl.pause(pycurl.PAUSE_CONT)

    def finish(self, code: int, message: str) -> Answer:
        """Return the answer, given how the transfer ended for libcurl (0 is well)."""
        get = self.curl.getinfo
        error = self._error(code, message)
        head, status, version = b"", 0, ""
        if self._head_is_whole:
            head, status = b"".join(self._lines), get(pycurl.RESPONSE_CODE)
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
            body=self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks),
            truncated=self._truncation(error),
            redirect=redirect,
            retry_after=parse_retry_after(next((v for name, v in headers if name == "retry-after"), None)),
            ip="" if self._settings.proxy else get(pycurl.PRIMARY_IP),
            timing=Timing(get(pycurl.CONNECT_TIME), get(pycurl.STARTTRANSFER_TIME), get(pycurl.TOTAL_TIME)),
            wire_bytes=get(pycurl.HEADER_SIZE) + get(pycurl.SIZE_DOWNLOAD_T),
        )
        self.stop()
        return answer

    def stop(self) -> None:
        """Let go of the body, whether it is in an answer by now or not."""
        self._budget.release(self._body_bytes, self)
        self._chunks, self._body_bytes = [], 0

    def close(self) -> None:
        """Free the handle."""
        self.curl.close()

    def _error(self, code: int, message: str) -> FetchError | None:
        if self._is_too_long:
            return None
        if code:
            # Where we broke it off ourselves, libcurl only says that a callback failed.
            return self._failure or failure_of(code, message)
        return None if self._head_is_whole else FetchError(ErrorKind.BAD_RESPONSE, "no header in the answer")

    def _truncation(self, error: FetchError | None) -> Truncation | None:
        if self._is_too_long:
            return Truncation.LENGTH
        return truncation_of(error.kind) if error and self._head_is_whole else None
