"""The headers and libcurl options of our requests.

They set the User-Agent, the limits, the proxy and the trusted certificates.

Nothing private is sent: no cookies, no .netrc, no credentials, no proxy from the environment. libcurl follows
no redirects, so that the rules of the crawl are applied to the target of each redirect.
"""

from __future__ import annotations

import os
import re
import ssl
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pycurl

from crawlctl import __version__
from crawlctl.pipeline.config.secrets import redacted
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.http.exchange import RequestKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.config.settings import FetchSettings
    from crawlctl.pipeline.http.exchange import Request

# libcurl has these options, pycurl has no names for them.
_SUPPRESS_CONNECT_HEADERS = 265
_DISALLOW_USERNAME_IN_URL = 278
_QUICK_EXIT = 322

_ACCEPT = {
    RequestKind.PAGE: "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,"
    "application/xml;q=0.7,application/epub+zip;q=0.7,*/*;q=0.1",
    RequestKind.ROBOTS: "text/plain,*/*;q=0.1",
    RequestKind.SITEMAP: "application/xml,text/xml,application/rss+xml,application/atom+xml,"
    "text/plain;q=0.8,application/gzip;q=0.8,*/*;q=0.1",
}
_CODECS = (
    ("gzip, deflate", pycurl.VERSION_LIBZ),
    ("br", pycurl.VERSION_BROTLI),
    ("zstd", pycurl.VERSION_ZSTD),
)
_PROXY_SCHEMES = ("http://", "https://")
_RESOLVE = re.compile(r"[^:\s]+:\d+:\S+")
_LONGEST_VALIDATOR = 1024
# An answer of up to this size needs only one call of Python.
_BUFFER_BYTES = 128 << 10


def bound_look_ups() -> None:
    """Shorten the time-out of the system's DNS resolver, unless the operator has set RES_OPTIONS.

    A transfer gives up after fetch.connect_timeout, but one of libcurl's 20 resolver threads stays blocked
    until the C library gives up too, after 10 s or more. 20 dead names would block all other look-ups.
    """
    os.environ.setdefault("RES_OPTIONS", "timeout:2 attempts:2")


def user_agent(settings: FetchSettings) -> str:
    """Return the User-Agent header: our name, our version, and how to reach the operator of the crawl."""
    if not settings.contact:
        raise ConfigError(
            "fetch.contact is not set, and owners of sites must be able to reach you; add "
            "--contact mailto:you@example.org, or put fetch.contact: mailto:you@example.org into crawl.yaml"
        )
    agent = f"{settings.agent}/{__version__} (+{settings.contact})"
    if not _fits_a_header(agent):
        raise ConfigError("fetch.agent or fetch.contact: not printable ASCII; use ASCII characters only")
    return agent


@lru_cache(maxsize=1)
def content_codings() -> str:
    """Return the Accept-Encoding header: the compressions that the installed libcurl can decode."""
    features = pycurl.version_info()[4]
    return ", ".join(names for names, feature in _CODECS if features & feature)


def accept_headers(kind: RequestKind, settings: FetchSettings) -> list[str]:
    """Return the header lines that are the same for all requests of a kind."""
    headers = [f"Accept: {_ACCEPT[kind]}"]
    if settings.languages:
        if not _fits_a_header(settings.languages):
            raise ConfigError("fetch.languages: not printable ASCII; write it as en, *;q=0.5")
        headers.append(f"Accept-Language: {settings.languages}")
    return headers


def conditions(request: Request) -> list[str]:
    """Return the header lines that request a page only if it has changed.

    The values came from a server, and may have been stored for weeks. A value that could break the line is
    left out.
    """
    fields = (("If-None-Match", request.etag), ("If-Modified-Since", request.last_modified))
    return [
        f"{name}: {value}"
        for name, value in fields
        if value and len(value) <= _LONGEST_VALIDATOR and _fits_a_header(value)
    ]


def request_head(url: str, request: Request, settings: FetchSettings) -> bytes:
    """Return the request as libcurl sends it in HTTP/1.1; the archive needs it, and libcurl keeps no copy."""
    authority, _, path = url.partition("//")[2].partition("/")
    lines = (
        f"GET /{path} HTTP/1.1",
        f"Host: {authority}",
        f"User-Agent: {user_agent(settings)}",
        f"Accept-Encoding: {content_codings()}",
        *accept_headers(request.kind, settings),
        *conditions(request),
    )
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("ascii")


def common_options(settings: FetchSettings) -> Iterator[tuple[int, Any]]:
    """Yield the options (option, value) that are the same for all transfers."""
    yield pycurl.NOSIGNAL, 1
    yield pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS
    yield _DISALLOW_USERNAME_IN_URL, 1
    yield pycurl.PATH_AS_IS, 1
    version = pycurl.CURL_HTTP_VERSION_2TLS if settings.http2 else pycurl.CURL_HTTP_VERSION_1_1
    yield pycurl.HTTP_VERSION, version
    yield pycurl.USERAGENT, user_agent(settings)
    yield pycurl.ACCEPT_ENCODING, content_codings()
    yield pycurl.BUFFERSIZE, _BUFFER_BYTES
    yield pycurl.DNS_CACHE_TIMEOUT, settings.dns_cache.whole
    # Before version 8.20, libcurl waits for a DNS look-up even after it has given up the transfer.
    yield _QUICK_EXIT, 1
    yield from _bounds(settings)
    yield from _route(settings)
    yield from _trust(settings)


def _bounds(settings: FetchSettings) -> Iterator[tuple[int, Any]]:
    if not (settings.connect_timeout and settings.timeout):
        raise ConfigError("fetch.connect_timeout and fetch.timeout: 0 would wait forever; give a duration")
    yield pycurl.CONNECTTIMEOUT_MS, settings.connect_timeout.milliseconds
    yield pycurl.TIMEOUT_MS, settings.timeout.milliseconds
    yield pycurl.LOW_SPEED_LIMIT, int(settings.min_speed)
    yield pycurl.LOW_SPEED_TIME, settings.min_speed_span.whole


def _route(settings: FetchSettings) -> Iterator[tuple[int, Any]]:
    # With a SOCKS proxy, names are resolved here and dialled there, where AddressGuard cannot check them.
    if settings.proxy and not settings.proxy.startswith(_PROXY_SCHEMES):
        shown = redacted(settings.proxy)
        raise ConfigError(f"fetch.proxy: {shown!r} is no http(s) URL; write it as http://host:port")
    if not _fits_a_header(settings.proxy):
        shown = redacted(settings.proxy)
        raise ConfigError(f"fetch.proxy: {shown!r}: not printable ASCII; percent-encode the password")
    yield pycurl.PROXY, settings.proxy
    yield pycurl.NOPROXY, ""
    yield _SUPPRESS_CONNECT_HEADERS, 1
    for entry in settings.resolve:
        if not _RESOLVE.fullmatch(entry):
            raise ConfigError(f"fetch.resolve: {entry!r} is not of the form example.com:443:192.0.2.7")
    yield pycurl.RESOLVE, list(settings.resolve)
    if settings.local_address:
        yield pycurl.INTERFACE, f"host!{settings.local_address}"


def _trust(settings: FetchSettings) -> Iterator[tuple[int, Any]]:
    yield pycurl.SSL_VERIFYPEER, int(settings.tls_verify)
    yield pycurl.SSL_VERIFYHOST, 2 if settings.tls_verify else 0
    authorities = settings.ca_file or system_authorities()
    if not Path(authorities).is_file():
        raise ConfigError(f"fetch.ca_file: there is no file {authorities}; name a PEM file of certificates")
    yield pycurl.CAINFO, authorities


def system_authorities() -> str:
    """Return the system's file of trusted certificates, or certifi's file if there is none (macOS)."""
    import certifi

    return ssl.get_default_verify_paths().cafile or certifi.where()


def _fits_a_header(value: str) -> bool:
    return value.isascii() and value.isprintable()
