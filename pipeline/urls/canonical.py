"""The canonical form of a URL: two spellings of it are one page, and it is what we ask the server for.

Starting from the WHATWG href (lower-case scheme and host, Punycode, no default port, dot segments resolved):

* the fragment goes: it never reaches the server;
* `%7e` becomes `~`: escapes of unreserved characters (letters, digits, `-._~`) are decoded and the others get
  upper-case digits, which RFC 3986 §6.2.2 calls equivalent.  Reserved characters and bytes beyond ASCII stay
  as they are written.  An escape right after a stray `%` stays too: decoded it could spell a new one;
* an empty query goes with its `?`: CGI (RFC 3875 §4.1.7) and all that followed it hand a program the same
  empty string, so `/?` beside `/` is only ever a duplicate;
* the dot that ends a fully qualified host goes: it is the same machine, and as two hosts it would be
  asked at twice the polite rate;
* parameters the operator named (`utm_*`) go; the others keep their order, which may carry meaning.

Credentials are refused and not stripped.  RFC 9110 §4.2.4 asks for that with links from strangers: they
mostly dress up a false host, the page without them is another page, and kept they would end up in archives.
Hosts that DNS cannot answer for (an empty label, more than 63 bytes in one or 253 in all) are refused as
well, for a page can invent any number of them.
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
    """Return the canonical form of an absolute URL, without the parameters that match a name in `strip`."""
    return _identity(parse(url), strip)


def canonical_link(base: str, link: str, strip: tuple[str, ...] = ()) -> str:
    """Return the canonical form of what a link means on the page `base`, if its port is one of the web."""
    return with_good_port(_identity(join(base, link), strip))


def _identity(href: str, strip: tuple[str, ...]) -> str:
    # The path starts at the first slash behind "http://" or "https://"; both have one by now.
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
    """Compile names of parameters, each of which may end in `*` for "whatever follows"."""
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
        raise UrlError(f"{shown(origin)}: no name of a host in DNS; check it for stray dots and its length")
    return f"{scheme}//{host}{colon}{port}"
