"""Translates libcurl's error codes into our ErrorKind.

One code can mean several things that only the message distinguishes: 28 is a time-out or a body that arrives
too slowly; 1 is an unknown scheme or an answer that is not HTTP.
https://curl.se/libcurl/c/libcurl-errors.html
"""

from __future__ import annotations

import pycurl

from crawlctl.pipeline.http.exchange import ErrorKind, FetchError, Truncation
from crawlctl.pipeline.terminal.printable import escaped

# libcurl has these codes, pycurl has no names for them.
_E_HTTP2_STREAM = 92
_E_PROXY = 97
_E_TOO_LARGE = 100

_KINDS = {
    # Our URLs are http or https, so here libcurl means that the answer is not HTTP.
    pycurl.E_UNSUPPORTED_PROTOCOL: ErrorKind.BAD_RESPONSE,
    pycurl.E_URL_MALFORMAT: ErrorKind.BAD_URL,
    pycurl.E_COULDNT_RESOLVE_PROXY: ErrorKind.PROXY,
    pycurl.E_COULDNT_RESOLVE_HOST: ErrorKind.DNS,
    pycurl.E_COULDNT_CONNECT: ErrorKind.REFUSED,
    pycurl.E_FTP_WEIRD_SERVER_REPLY: ErrorKind.BAD_RESPONSE,
    pycurl.E_HTTP2: ErrorKind.BAD_RESPONSE,
    pycurl.E_PARTIAL_FILE: ErrorKind.RESET,
    pycurl.E_OPERATION_TIMEDOUT: ErrorKind.TIMEOUT,
    pycurl.E_SSL_CONNECT_ERROR: ErrorKind.TLS,
    pycurl.E_GOT_NOTHING: ErrorKind.RESET,
    pycurl.E_SEND_ERROR: ErrorKind.RESET,
    pycurl.E_RECV_ERROR: ErrorKind.RESET,
    pycurl.E_SSL_CIPHER: ErrorKind.TLS,
    pycurl.E_PEER_FAILED_VERIFICATION: ErrorKind.TLS,
    pycurl.E_BAD_CONTENT_ENCODING: ErrorKind.BAD_RESPONSE,
    _E_HTTP2_STREAM: ErrorKind.RESET,
    _E_PROXY: ErrorKind.PROXY,
    _E_TOO_LARGE: ErrorKind.HEADERS_TOO_LARGE,
}
_BY_MESSAGE = (
    ("Operation too slow", ErrorKind.TOO_SLOW),
    ("Resolving timed out", ErrorKind.DNS),
    ("CONNECT tunnel failed", ErrorKind.PROXY),
    ("Too large response headers", ErrorKind.HEADERS_TOO_LARGE),
    # A chunk without a length has the code of a broken connection.
    ("chunk hex-length", ErrorKind.BAD_RESPONSE),
)
_TRUNCATIONS = {
    ErrorKind.TIMEOUT: Truncation.TIME,
    ErrorKind.TOO_SLOW: Truncation.TIME,
    ErrorKind.STALLED: Truncation.TIME,
    ErrorKind.RESET: Truncation.DISCONNECT,
    ErrorKind.BAD_RESPONSE: Truncation.UNSPECIFIED,
}
_LONGEST_REASON = 300
# An answer 407 never comes from the host: over https libcurl makes an error of it, over http an answer.
PROXY_LOGIN = 407
PROXY_WANTS_PASSWORD = FetchError(
    ErrorKind.PROXY,
    f"the proxy asks for a name and a password (status {PROXY_LOGIN}); write them into fetch.proxy: "
    "http://NAME:PASSWORD@HOST:PORT",
)
_TUNNEL_REFUSED = f"CONNECT tunnel failed, response {PROXY_LOGIN}"


def failure_of(code: int, message: str, *, has_proxy: bool = False) -> FetchError:
    """Return our error for a code and message of libcurl; behind a proxy we connect only to the proxy."""
    kind = next((kind for text, kind in _BY_MESSAGE if text in message), None)
    if has_proxy and _TUNNEL_REFUSED in message:
        return PROXY_WANTS_PASSWORD
    if has_proxy and code == pycurl.E_COULDNT_CONNECT:
        kind = ErrorKind.PROXY
    reason = escaped(message)
    return FetchError(
        kind or _KINDS.get(code, ErrorKind.INTERNAL), f"{reason[:_LONGEST_REASON]} (libcurl {code})"
    )


def truncation_of(kind: ErrorKind) -> Truncation | None:
    """Return why a body is incomplete after an error of this kind, None if there can be no body."""
    return _TRUNCATIONS.get(kind)
