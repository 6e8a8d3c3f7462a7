"""RequestGuard: checks every request (its host name, the limit per client) and adds security headers.

A web page of a stranger could make a browser send requests to this server under a host name of the stranger
(DNS rebinding), and so read the results of a server that is meant for one machine only. So the Host header
must be an IP address, which no such attack can send, or a name that the operator has given.
"""

from __future__ import annotations

import re
import time
from asyncio import CancelledError
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING

from crawlctl.pipeline.serve.limits.client_address import limited_client
from crawlctl.pipeline.serve.problem import RETRY_AFTER, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from crawlctl.pipeline.serve.limits.token_buckets import TokenBuckets
    from crawlctl.pipeline.serve.metrics import Metrics

MAX_QUERY_STRING = 8 << 10  # the most bytes of a query string
# Paths that programs read: of the only crawl, or of one of several crawls.
_API = re.compile(r"(/in/[^/]*)?/(api/|mcp$)")
ALWAYS_KNOWN = ("localhost",)
# paths that cost nothing, and paths for monitoring
UNLIMITED = ("/static/", "/healthz", "/readyz", "/metrics")

# Allowed: only our own script file, which cannot turn text into HTML; our own styles, no inline style;
# nothing from other origins; frames only for archived copies of pages.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_SECURITY = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # sites that a visitor opens do not learn the query
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex",
    "Cache-Control": "private, no-cache",
}
# The answer to a preflight request, which allows a script to send an ETag back; and the headers that the
# script may read.
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST",
    "Access-Control-Allow-Headers": "If-None-Match, Content-Type, Mcp-Protocol-Version, Mcp-Method, Mcp-Name",
    "Access-Control-Max-Age": "3600",
}
_ENDING = Problem(
    HTTPStatus.SERVICE_UNAVAILABLE, "the server ends; ask again in some seconds", retry_after=RETRY_AFTER
)
_EXPOSED = (b"access-control-expose-headers", b"ETag, Link, Retry-After")


class RequestGuard:
    """The outermost application: it refuses forbidden requests, and adds headers to the answers."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Iterable[str],
        origins: Iterable[str],
        metrics: Metrics,
        buckets: TokenBuckets,
        refusal: Callable[[Request, Problem], Response],
    ) -> None:
        self._app = app
        self._hosts = {host.lower() for host in (*ALWAYS_KNOWN, *hosts)}
        self._origins = frozenset(origins)
        self._metrics = metrics
        self._buckets = buckets
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; connections that are no requests (lifespan) are passed on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, shared, started = time.perf_counter(), self._sharing(scope), False

        async def completed(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = _with_security((*message.get("headers", ()), *shared))
                self._metrics.request(message["status"], time.perf_counter() - began)
            await send(message)

        problem = self._problem(scope)
        if problem is not None:
            await self._refused(problem)(scope, receive, completed)
        elif scope["method"] == "OPTIONS" and _EXPOSED in shared:  # a preflight of CORS
            from starlette.responses import Response

            await Response(status_code=HTTPStatus.NO_CONTENT, headers=_PREFLIGHT)(scope, receive, completed)
        else:
            try:
                await self._app(scope, receive, completed)
            except CancelledError:  # by uvicorn, where the server ends and has waited for the answer
                if not started:
                    await self._refused(_ENDING)(scope, receive, completed)

    def _refused(self, problem: Problem) -> ASGIApp:
        """Return the application that answers a request with a problem."""
        from starlette.requests import Request

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            await self._refusal(Request(scope), problem)(scope, receive, send)

        return answer

    def _problem(self, scope: Scope) -> Problem | None:
        host = next((value for name, value in scope["headers"] if name == b"host"), b"")
        if not self._is_known(host.decode("latin-1")):
            return Problem(
                HTTPStatus.MISDIRECTED_REQUEST,
                "this server does not answer under this name; its operator can allow it with --allow-host",
            )
        if len(scope["query_string"]) > MAX_QUERY_STRING:
            return Problem(HTTPStatus.REQUEST_URI_TOO_LONG, "the address is too long; leave some words out")
        return self._too_many(scope)

    def _too_many(self, scope: Scope) -> Problem | None:
        """Return the problem of a client that asks too often."""
        client = "" if scope["path"].startswith(UNLIMITED) else limited_client(scope)
        wait = self._buckets.wait_of(client) if client else 0.0
        if not wait:
            return None
        return Problem(
            HTTPStatus.TOO_MANY_REQUESTS, "these are too many requests; ask more slowly", retry_after=wait
        )

    def _sharing(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """Return the headers by which scripts of other web pages may read an answer of the API (CORS)."""
        if not (self._origins and is_api(scope["path"])):
            return []
        origin = next((value for name, value in scope["headers"] if name == b"origin"), b"")
        is_allowed = "*" in self._origins or origin.decode("latin-1") in self._origins
        allowed = [(b"access-control-allow-origin", origin), _EXPOSED] if origin and is_allowed else []
        return [(b"vary", b"Origin"), *allowed]

    def _is_known(self, host: str) -> bool:
        name = host_name(host)
        return name in self._hosts or _is_address(name)


def is_api(path: str) -> bool:
    """Return whether a path is for programs, which are answered in JSON."""
    return _API.match(path) is not None


def host_name(host: str) -> str:
    """Return the name of a Host header in lower case, without port and brackets."""
    name, colon, port = host.rpartition(":")
    bare = name if colon and port.isdigit() else host
    return bare.removeprefix("[").removesuffix("]").rstrip(".").lower()


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _with_security(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers with security headers added, except those that the answer has set itself."""
    own = list(headers)
    names = {name.lower() for name, _ in own}
    added = ((name.lower().encode(), value.encode()) for name, value in _SECURITY.items())
    return [*own, *((name, value) for name, value in added if name not in names)]
