"""The host of a URL, the partition of a host, and the WebDB key of a URL.

A host is the WHATWG host with the port, if it is not the default port. http and https share a host. The pages
of a host share a crawl delay and a partition, and their WebDB keys begin with the host.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.whatwg import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def host_of(url: str) -> str:
    """Return the host of a URL, with its port if it is not the default port."""
    # URLs of a site come one after the other, so the parsed origin is cached. In a URL that is not canonical,
    # the text before the third slash may be no origin; then the URL is made canonical first.
    try:
        return _host_of_origin(url[: url.find("/", 8) + 1])
    except UrlError:
        return _authority(canonical(url))


@lru_cache(maxsize=16_384)
def _host_of_origin(origin: str) -> str:
    return _authority(canonical(origin))


def _authority(url: str) -> str:
    return url[url.index("//") + 2 : url.index("/", 8)]


def stable_hash(data: bytes | str) -> int:
    """Return a 64-bit hash that is the same on all machines and in all releases; stored data depend on it.

    It is the first 8 bytes of BLAKE2b-512, which `b2sum` and `openssl dgst -blake2b512` print too.
    """
    if isinstance(data, str):
        data = data.encode()
    return int.from_bytes(blake2b(data).digest()[:8], "big")


def stable_digest(data: bytes) -> bytes:
    """Return the 8 bytes, big-endian, of `stable_hash`: faster if many hashes go into an array."""
    return blake2b(data).digest()[:8]


@lru_cache(maxsize=16_384)
def partition_of(host: str, partitions: int) -> int:
    """Return the number of the partition that a host belongs to, with all its pages."""
    return stable_hash(host) % partitions


def webdb_key(url: str) -> bytes:
    """Return the key of a canonical URL in the WebDB: host, space, URL.

    A space is less than any byte of a host, so keys sort by host first and then by URL.
    """
    try:
        return f"{host_of(url)} {url}".encode("ascii")
    except UnicodeEncodeError as error:
        raise UrlError(f"{shown(url)}: not in canonical form; pass it through canonical() first") from error


def host_of_key(key: bytes) -> str:
    """Return the host at the start of a WebDB key."""
    return _split_key(key)[0]


def url_of_key(key: bytes) -> str:
    """Return the URL in a WebDB key."""
    return _split_key(key)[1]


def host_in_key(key: bytes) -> bytes:
    """Return the host in a WebDB key as bytes: for loops over many keys, it does not check the key."""
    return key[: key.index(b" ")]


def url_in_key(key: bytes) -> bytes:
    """Return the URL in a WebDB key as bytes: for loops over many keys, it does not check the key."""
    return key[key.index(b" ") + 1 :]


def key_prefix(key: bytes) -> bytes:
    """Return the bytes with which all WebDB keys of the same host begin, and no others."""
    return key[: key.index(b" ") + 1]


def key_bounds(host: bytes) -> tuple[bytes, bytes]:
    """Return the bounds of the WebDB keys of a host: greater than the first, less than the second."""
    return host + b" ", host + b"!"  # "!" is the byte after the space


def host_ranges(keys: Sequence[bytes]) -> Iterator[tuple[bytes, int, int]]:
    """Yield each host of sorted WebDB keys, the index of its first key and the index after its last key."""
    start = 0
    while start < len(keys):
        host = keys[start].partition(b" ")[0]
        end = bisect_left(keys, key_bounds(host)[1], start + 1)
        yield host, start, end
        start = end


def _split_key(key: bytes) -> tuple[str, str]:
    host, _, url = key.partition(b" ")
    if not (host and url and key.isascii()):
        raise UrlError(
            f"{shown(repr(key))}: not a host, a space and a URL; check that the file is a part of a WebDB"
        )
    return host.decode("ascii"), url.decode("ascii")
