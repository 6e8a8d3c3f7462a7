"""URLs for the rest of crawlctl: the standard's form, the canonical form, and what follows from the host."""

from __future__ import annotations

from crawlctl.pipeline.net.canonical import canonical, canonical_link
from crawlctl.pipeline.net.hosts import (
    host_of,
    host_of_key,
    partition,
    registrable_domain,
    stable_hash,
    url_of_key,
    webdb_key,
)
from crawlctl.pipeline.net.whatwg import MAX_URL_BYTES, join, parse, shown

__all__ = [
    "MAX_URL_BYTES",
    "canonical",
    "canonical_link",
    "host_of",
    "host_of_key",
    "join",
    "parse",
    "partition",
    "registrable_domain",
    "shown",
    "stable_hash",
    "url_of_key",
    "webdb_key",
]
