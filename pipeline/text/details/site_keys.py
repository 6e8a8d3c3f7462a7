"""Finds the rules of the setting `sites` for a URL: those of the most exact host, then of the longest prefix.

A key is a host (`example.org`), all hosts below a domain (`*.example.org`), or the beginning of URLs
(`example.org/docs/` for http and https, `https://example.org/docs/`). With a port it means only this port.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.errors import ConfigError, UrlError
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.config.settings import SiteRules

_BELOW = "*."


class SiteKey(NamedTuple):
    """A parsed key of the setting; its canonical parts are compared with the parts of a URL."""

    scheme: str  # empty for http and https
    host: str
    path: str
    is_domain: bool  # True: all hosts below `host`

    def matches(self, url: str, host: str, bare: str) -> bool:
        """Return whether a canonical URL belongs to it; `bare` is the host without its port."""
        if self.is_domain:
            is_host = any(name.endswith(f".{self.host}") for name in (host, bare))
        else:
            is_host = self.host in (host, bare)
        if not is_host or (self.scheme and not url.startswith(f"{self.scheme}:")):
            return False
        return not self.path or url[url.index("/", 8) :].startswith(self.path)

    @property
    def exactness(self) -> tuple[bool, int, int, bool]:
        """How exact the key is: if several keys match, the greatest number counts."""
        return not self.is_domain, len(self.host), len(self.path), bool(self.scheme)


@lru_cache(maxsize=4096)
def site_key(text: str) -> SiteKey:
    """Return a parsed key; raise if the text is neither a host nor the beginning of URLs."""
    scheme, found, rest = text.strip().rpartition("://")
    is_domain = rest.startswith(_BELOW)
    rest = rest.removeprefix(_BELOW)
    begin = rest.removesuffix("*") if "/" in rest else rest
    try:
        # A fragment, or a query without a path, would be ignored, so the key would match more URLs than its
        # text says.
        is_vague = "#" in begin or "?" in begin.partition("/")[0]
        if "*" in begin or is_vague or not begin or (found and scheme.lower() not in ("http", "https")):
            raise UrlError(text)
        url = canonical(f"{scheme or 'https'}://{begin}")
    except UrlError as error:
        raise ConfigError(
            f"sites: {text!r} is neither a host nor the beginning of URLs; write example.org, "
            "*.example.org or https://example.org/docs/"
        ) from error
    host = host_of(url)
    path = url[url.index("/", 8) :] if "/" in begin else ""
    return SiteKey(scheme.lower(), host, "" if path == "/" else path, is_domain)


def site_of(sites: Mapping[str, SiteRules], url: str) -> str | None:
    """Return the key of the rules that hold for a canonical URL, None if there are none."""
    host = host_of(url)
    name, colon, port = host.rpartition(":")
    bare = name if colon and port.isdigit() else host
    matching = [key for key in sites if site_key(key).matches(url, host, bare)]
    return max(matching, key=lambda key: site_key(key).exactness) if matching else None
