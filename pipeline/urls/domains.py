"""The registrable domain of a host; there are two rules for names without a public suffix."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


@lru_cache(maxsize=16_384)
def registrable_domain(host: str) -> str:
    """Return the name that the owner registered (`bbc.co.uk` for `news.bbc.co.uk`), in Punycode.

    The private part of the public suffix list counts, as it does for cookies in browsers: alice.github.io and
    bob.github.io have different owners. An address, a single label and a public suffix are their own domain.
    """
    name = host_of(f"https://{host}/")
    if name.startswith("["):
        return name[: name.index("]") + 1]
    name = name.partition(":")[0]
    # In a canonical host a last label that is a number means an IPv4 address (URL standard).
    if name.rpartition(".")[2].isdigit():
        return name
    return load_suffixes().privatesuffix(name) or name


@lru_cache(maxsize=16_384)
def domain_of(host: str) -> str:
    """Return the domain that a canonical host is counted under in limits; an address is its own domain.

    The owner of a domain can invent any number of hosts below it. Names without a public suffix, such as
    wiki.corp and a.localhost, count under their last label, because its owner runs the DNS server. (For
    `registrable_domain` each of them is a domain.)
    """
    if host.startswith("["):
        return host[: host.index("]") + 1]
    name = host.partition(":")[0]
    last = name.rpartition(".")[2]
    if last.isdigit():
        return name
    suffixes = load_suffixes()
    known = suffixes.privatesuffix(name, accept_unknown=False)
    return known or suffixes.publicsuffix(name, accept_unknown=False) or last


def has_public_suffix(host: str) -> bool:
    """Return whether a canonical host has no port and lies below a public suffix, such as org or co.uk."""
    return ":" not in host and load_suffixes().privatesuffix(host, accept_unknown=False) is not None


@lru_cache(maxsize=1)
def load_suffixes() -> PublicSuffixList:
    """Return the public suffix list. Reading it takes 40 ms, so a process reads it before it forks."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList(only_icann=False)
