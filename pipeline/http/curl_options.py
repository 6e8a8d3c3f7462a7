"""How we ask: the headers of a request, and the options of libcurl that say who we are and whom we trust.

Nothing private goes along: no cookies, no .netrc, no credentials, no proxy out of the environment.  Redirects
are not followed here, so that each hop goes through the rules of the crawl again.
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

# libcurl has them, pycurl has no names for them.
_SUPPRESS_CONNECT_HEADERS = 265
_DISALLOW_USERNAME_IN_URL = 278
_QUICK_EXIT = 322

_ACCEPT = {
    RequestKind.PAGE: "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,*/*;q=0.1",
    RequestKind.ROBOTS: "text/plain,*/*;q=0.1",
    RequestKind.SITEMAP: "application/xml,text/xml,text/plain;q=0.8,application/gzip;q=0.8,*/*;q=0.1",
}
_CODECS = (
    ("gzip, deflate", pycurl.VERSION_LIBZ),
    ("br", pycurl.VERSION_BROTLI),
    ("zstd", pycurl.VERSION_ZSTD),
)
_PROXY_SCHEMES = ("http://", "https://")
_RESOLVE = re.compile(r"[^:\s]+:\d+:\S+")
_LONGEST_VALIDATOR = 1024
# Whole answers of up to this size come in one call of Python.
_BUFFER_BYTES = 128 << 10


def bound_look_ups() -> None:
    """Make the system's resolver give up on silent name servers, unless the operator has told it when to.

    A transfer gives up after fetch.connect_timeout, but one of libcurl's 20 threads stays with the name until
    the C library lets go of it, 10 s and more; 20 dead names would hold up all the others.
    """
    os.environ.setdefault("RES_OPTIONS", "timeout:2 attempts:2")


def user_agent(settings: FetchSettings) -> str:
    """Return the User-Agent header: name, version, and how to reach whoever runs the crawl."""
    if not settings.contact:
        raise ConfigError(
            "fetch.contact is not set, and owners of sites must be able to reach you; "
            "set it to your web or mail address"
        )
    agent = f"{settings.agent}/{__version__} (+{settings.contact})"
    if not _fits_a_header(agent):
        raise ConfigError("fetch.agent or fetch.contact: other than printable ASCII; spell it without")
    return agent


@lru_cache(maxsize=1)
def content_codings() -> str:
    """Return the Accept-Encoding header: the codings that the libcurl at hand can undo."""
    features = pycurl.version_info()[4]
    return ", ".join(names for names, feature in _CODECS if features & feature)


def accept_headers(kind: RequestKind, settings: FetchSettings) -> list[str]:
    """Return the header lines that are the same for every request of a kind."""
    headers = [f"Accept: {_ACCEPT[kind]}"]
    if settings.languages:
        if not _fits_a_header(settings.languages):
            raise ConfigError("fetch.languages: other than printable ASCII; write it as en, *;q=0.5")
        headers.append(f"Accept-Language: {settings.languages}")
    return headers


def conditions(request: Request) -> list[str]:
    """Return the header lines that ask for a page only if it has changed.

    The values were sent by a stranger and kept for weeks; one that could end the line is left out.
    """
    fields = (("If-None-Match", request.etag), ("If-Modified-Since", request.last_modified))
    return [
        f"{name}: {value}"
        for name, value in fields
        if value and len(value) <= _LONGEST_VALIDATOR and _fits_a_header(value)
    ]


def request_head(url: str, request: Request, settings: FetchSettings) -> bytes:
    """Return the request as libcurl writes it in HTTP/1.1, for the archive: it keeps no copy itself."""
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
    """Yield (option, value) of all that does not change from transfer to transfer."""
    yield pycurl.NOSIGNAL, 1
    yield pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS
    yield _DISALLOW_USERNAME_IN_URL, 1
    yield pycurl.PATH_AS_IS, 1
    version = pycurl.CURL_HTTP_VERSION_2TLS if settings.http2 else pycurl.CURL_HTTP_VERSION_1_1
    yield pycurl.HTTP_VERSION, version
    yield pycurl.USERAGENT, user_agent(settings)
    yield pycurl.ACCEPT_ENCODING, content_codings()
    yield pycurl.BUFFERSIZE, _BUFFER_BYTES
    yield pycurl.DNS_CACHE_TIMEOUT, int(settings.dns_cache)
    # Before 8.20, libcurl waits for the look-up of a name even after it has given up the transfer.
    yield _QUICK_EXIT, 1
    yield from _bounds(settings)
    yield from _way(settings)
    yield from _trust(settings)


def _bounds(settings: FetchSettings) -> Iterator[tuple[int, Any]]:
    if not (settings.connect_timeout and settings.timeout):
        raise ConfigError("fetch.connect_timeout and fetch.timeout: 0 would wait for ever; give a duration")
    yield pycurl.CONNECTTIMEOUT_MS, settings.connect_timeout * 1000
    yield pycurl.TIMEOUT_MS, settings.timeout * 1000
    yield pycurl.LOW_SPEED_LIMIT, int(settings.min_speed)
    yield pycurl.LOW_SPEED_TIME, int(settings.min_speed_span)


def _way(settings: FetchSettings) -> Iterator[tuple[int, Any]]:
    # A SOCKS proxy would resolve names here and dial them there, where the guard is not asked.
    if settings.proxy and not settings.proxy.startswith(_PROXY_SCHEMES):
        shown = redacted(settings.proxy)
        raise ConfigError(f"fetch.proxy: {shown!r} is no http(s) URL; write it as http://host:port")
    if not _fits_a_header(settings.proxy):
        shown = redacted(settings.proxy)
        raise ConfigError(f"fetch.proxy: {shown!r}: other than printable ASCII; percent-encode the password")
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
        raise ConfigError(f"fetch.ca_file: there is no file {authorities}; name a PEM file of authorities")
    yield pycurl.CAINFO, authorities


def system_authorities() -> str:
    """Return the file of authorities this system trusts, or Mozilla's list where there is none (macOS)."""
    import certifi

    return ssl.get_default_verify_paths().cafile or certifi.where()


def _fits_a_header(value: str) -> bool:
    return value.isascii() and value.isprintable()
