"""The domain that a host is counted under: whose owner can make up as many hosts like it as he wants."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


@lru_cache(maxsize=16_384)
def domain_of(host: str) -> str:
    """Return the registrable domain of a canonical host; an address is a domain of its own.

    Names that end in no public suffix, such as wiki.corp and a.localhost, belong to whoever runs the name
    server of the last label. (`hosts.registrable_domain` takes each of them for a domain.)
    """
    if host.startswith("["):
        return host[: host.index("]") + 1]
    name = host.partition(":")[0]
    last = name.rpartition(".")[2]
    if last.isdigit():
        return name
    suffixes = _suffixes()
    return suffixes.privatesuffix(name) or suffixes.publicsuffix(name) or last


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList(only_icann=False, accept_unknown=False)
