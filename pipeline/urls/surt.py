"""SURT: the key by which web archives sort and look up URLs (Sort-friendly URI Reordering Transform).

https://docs.python.org:443/3/?b=2&a=1 becomes org,python,docs)/3?a=1&b=2. Programs that replay archives look
a URL up by this key, so it must equal the key of the library `surt` in every character: without scheme and
www, in lower case, escapes brought to one form, and without the session ids that old servers put into URLs.
(A test compares; the library itself is not needed to run, because it has no wheels and needs two other
packages.)
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

_URL = re.compile(r"(https?)://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d+))?([^?#]*)(\?[^#]*)?")
_WWW = re.compile(r"^www\d*\.")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_ESCAPED = re.compile(rb"[\0-\x20\x7f-\xff#%]")
# Session ids of Java, PHP and others in queries, of ASP and ColdFusion; and of ASP.NET in paths.
_SESSIONS = tuple(
    re.compile(rb"(.*)(?:" + id_ + rb")(?:&(.*))?", re.I | re.S)
    for id_ in (
        rb"jsessionid=[0-9a-z]{32}",
        rb"phpsessid=[0-9a-z]{32}",
        rb"sid=[0-9a-z]{32}",
        rb"aspsessionid[a-z]{8}=[a-z]{24}",
        rb"cfid=[^&]+&cftoken=[^&]+",
    )
)
_ASPX = re.compile(rb"(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)|\([0-9a-z]{24}\))/([^?]+\.aspx.*)", re.I | re.S)


def surt(url: str) -> str:
    """Return the key of a canonical URL."""
    found = _URL.fullmatch(url)
    if found is None:
        return url
    scheme, host, port, path, query = found.groups()
    labels = _WWW.sub("", host.lower().strip("[].")).split(".")
    place = ",".join(reversed(labels)) + (f":{port}" if port and port != _DEFAULT_PORTS[scheme] else "")
    return f"{place}){_path(path)}{_query(query or '')}"


def _path(path: str) -> str:
    segments: list[bytes] = []
    for segment in _plain(path).split(b"/"):
        if segment == b"..":
            del segments[-1:]
        elif segment != b".":
            segments.append(segment)
    whole = b"/" + b"/".join(filter(None, segments))
    if session := _ASPX.fullmatch(whole):
        whole = session[1] + session[2]
    return _escaped(whole)


def _query(query: str) -> str:
    plain = _plain(query[1:])
    for session in _SESSIONS:
        if found := session.fullmatch(plain):
            plain = found[1] + (found[2] or b"")
    arguments = sorted(_escaped(plain).split("&"), key=lambda one: one.split("=", 1))
    return f"?{'&'.join(arguments)}" if plain else ""


def _plain(text: str) -> bytes:
    """Return a text without percent-escapes, even if it was escaped several times."""
    data, before = text.encode(), b""
    while data != before:
        data, before = unquote_to_bytes(data), data
    return data


def _escaped(data: bytes) -> str:
    """Return bytes as text in lower case, with the escapes that a URL needs."""
    return _ESCAPED.sub(lambda found: b"%%%02x" % found[0][0], data).decode("ascii").lower()
