"""Makes HTTP sessions for HDFS, and explains connections that fail."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from crawlctl.pipeline.store.hdfs.errors import UNKNOWN_HOST, UNREACHABLE, UNTRUSTED, HdfsProblem

THREADS = 10  # connections to one server at the same time
TIMEOUTS = (10.0, 120.0)  # seconds to connect, and between two bytes of an answer

_UNRESOLVED = ("Failed to resolve", "Name or service not known", "nodename nor servname", "getaddrinfo")


def make_session() -> requests.Session:
    """Return a session without cookies that ignores proxy settings, because those are meant for the web."""
    from http.cookiejar import DefaultCookiePolicy

    session = requests.Session()
    session.trust_env = False
    session.verify = os.environ.get("REQUESTS_CA_BUNDLE") or True
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(pool_maxsize=THREADS))
    return session


def unreachable(err: Exception, url: str) -> HdfsProblem:
    """Return the problem behind an error of requests or of a socket."""
    address = f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"
    said = str(err)
    if isinstance(err, requests.exceptions.SSLError):
        return HdfsProblem(UNTRUSTED, said, address)
    if any(words in said for words in _UNRESOLVED):
        return HdfsProblem(UNKNOWN_HOST, f"no host is called {urlsplit(url).hostname}", address)
    if "refused" in said:
        return HdfsProblem(UNREACHABLE, "the connection is refused", address)
    kind = "no answer in time" if isinstance(err, requests.Timeout) else "the connection broke off"
    return HdfsProblem(UNREACHABLE, kind, address)
