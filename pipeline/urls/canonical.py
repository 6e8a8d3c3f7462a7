"""The canonical form of a URL, which is equal for all spellings of a page.

It is also the form that we send to the server.

We start from the WHATWG href (lower-case scheme and host, Punycode, no default port, dot segments resolved):

* The fragment is removed; it never reaches the server.
* `%7e` becomes `~`: escapes of unreserved characters (letters, digits, `-._~`) are decoded, and other escapes
  get upper-case digits. RFC 3986 §6.2.2 calls these equivalent. Reserved characters and bytes beyond ASCII
  stay as written. An escape right behind a stray `%` stays too, because decoding it could form a new escape.
* An empty query is removed with its `?`: by CGI (RFC 3875 §4.1.7) and its successors, programs get the same
  empty string, so `/?` is always a duplicate of `/`.
* The dot at the end of a fully qualified host is removed. It is the same machine, and as two hosts it would
  be asked at twice the polite rate.
* Parameters that the operator named (`utm_*`) are removed. The others keep their order, because it may
  matter.

URLs with credentials are refused, not stripped. RFC 9110 §4.2.4 asks for this for untrusted links:
credentials mostly hide a false host, the page without them is another page, and they would end up in the
archive. Hosts that DNS cannot resolve (an empty label, more than 63 bytes in a label or 253 in all) are
refused too, because a page can invent any number of them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError, UrlError
from crawlctl.pipeline.urls.ports import with_good_port
from crawlctl.pipeline.urls.whatwg import join, parse, shown

if TYPE_CHECKING:
    from collections.abc import Callable

_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_DECODED = {f"%{ord(character):02X}": character for character in _UNRESERVED}
_ESCAPE = re.compile(r"(%[0-9A-Fa-f]?)?(%[0-9A-Fa-f]{2})")
_NOT_IN_A_NAME = frozenset("*&=")
_MAX_HOST_BYTES = 253
_MAX_LABEL_BYTES = 63


def canonical(url: str, strip: tuple[str, ...] = ()) -> str:
    """Return the canonical form of an absolute URL, without the parameters named in `strip`."""
    return _identity(parse(url), strip)


def canonical_link(base: str, link: str, strip: tuple[str, ...] = ()) -> str:
    """Return the canonical form of a link on the page `base`; raise UrlError for ports of other protocols."""
    return with_good_port(_identity(join(base, link), strip))


def _identity(href: str, strip: tuple[str, ...]) -> str:
    # The path starts at the first slash behind "http://" or "https://"; an href always has one.
    start = href.index("/", 8)
    rest = href[start:]
    if "#" in rest:
        rest = rest[: rest.index("#")]
    if "%" in rest:
        rest = _ESCAPE.sub(_normalise_escape, rest)
    if "?" in rest:
        rest = _normalise_query(rest, strip)
    return _normalise_origin(href[:start]) + rest


def _normalise_escape(match: re.Match[str]) -> str:
    stray, escape = match.groups()
    escape = escape.upper()
    return _DECODED.get(escape, escape) if stray is None else stray + escape


def _normalise_query(path_and_query: str, strip: tuple[str, ...]) -> str:
    path, _, query = path_and_query.partition("?")
    if strip:
        unwanted = _matcher(strip)
        query = "&".join(part for part in query.split("&") if not unwanted(part))
    return f"{path}?{query}" if query else path


@lru_cache(maxsize=64)
def _matcher(strip: tuple[str, ...]) -> Callable[[str], object]:
    """Return a matcher for the names of parameters; a name may end in `*`."""
    for name in strip:
        if not name or not _NOT_IN_A_NAME.isdisjoint(name.removesuffix("*")):
            raise ConfigError(
                f"{name!r} cannot name a parameter to strip; write a whole name such as gclid, "
                "or the beginning and a star, as in utm_*"
            )
    beginnings = [re.escape(name[:-1]) for name in strip if name.endswith("*")]
    names = [re.escape(name) + "(?:=|$)" for name in strip if not name.endswith("*")]
    return re.compile("|".join(beginnings + names)).match


@lru_cache(maxsize=16_384)
def _normalise_origin(origin: str) -> str:
    scheme, _, authority = origin.partition("//")
    if "@" in authority:
        raise UrlError(
            f"{scheme}//…@{shown(authority.rpartition('@')[2])}: carries a user name or password; "
            "give the URL without them"
        )
    if authority.startswith("["):
        return origin
    host, colon, port = authority.partition(":")
    host = host[:-1] if host.endswith(".") else host
    if len(host) > _MAX_HOST_BYTES or not all(
        0 < len(label) <= _MAX_LABEL_BYTES for label in host.split(".")
    ):
        raise UrlError(f"{shown(origin)}: not a valid DNS name; check it for stray dots and its length")
    return f"{scheme}//{host}{colon}{port}"
