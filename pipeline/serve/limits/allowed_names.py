"""The names that the operator allows: hosts of this server, and origins of web pages that may ask the API.

A name that no browser ever sends would allow nothing, and nobody would learn why. So it is refused at the
start.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

ANY_ORIGIN = "*"
# A browser extension has an origin too, with a scheme of its own.
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@\s]+")
_HOST = re.compile(r"[^/?#@:\s]+(:[0-9]+)?")


def allowed_origins(origins: Iterable[str]) -> tuple[str, ...]:
    """Return origins as browsers write them; raise if a text is none."""
    found = []
    for text in origins:
        origin = text.rstrip("/").lower()
        if origin != ANY_ORIGIN and not _ORIGIN.fullmatch(origin):
            raise ConfigError(
                f"{text} is no origin of a web page; give its scheme and host, without a path, as in "
                "--allow-origin https://example.org"
            )
        found.append(origin)
    return tuple(found)


def allowed_hosts(hosts: Iterable[str]) -> tuple[str, ...]:
    """Return the names of hosts without ports, as they are compared; raise if a text is none."""
    found = []
    for text in hosts:
        if not _HOST.fullmatch(text):
            raise ConfigError(
                f"{text} is no name of a host; give it without scheme and path, as in "
                "--allow-host search.example.org"
            )
        found.append(text.partition(":")[0].rstrip(".").lower())
    return tuple(found)
