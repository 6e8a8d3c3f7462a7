"""The links of a document: the stable hash of each target URL, and whether the link is nofollow.

    targets   8 bytes each, big-endian, in the order of the page
    flags     1 byte each: 1 nofollow, 0 not

All links of a page are kept, also links out of the scope of the crawl: ranking decides which links count.
"""

from __future__ import annotations

from struct import unpack
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.urls.hosts import stable_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGET_BYTES = 8
LINK_BYTES = TARGET_BYTES + 1

_MAX_REMEMBERED = 1 << 15
_MAX_CHARS = 200  # longer URLs are not remembered: pages full of them are hostile


class _Targets(dict[str, bytes]):
    """The packed hashes of the URLs met so far: the pages of a site share most of their links."""

    def __missing__(self, url: str) -> bytes:
        if len(self) >= _MAX_REMEMBERED:
            self.clear()
        found = stable_hash(url).to_bytes(TARGET_BYTES, "big")
        if len(url) <= _MAX_CHARS:
            self[url] = found
        return found


_TARGETS = _Targets()


class OutLinks(NamedTuple):
    """The links of one document."""

    targets: tuple[int, ...]
    nofollow: tuple[bool, ...]


def encode_links(links: Sequence[tuple[str, str, bool]]) -> bytes:
    """Return packed links; a link is a URL, an anchor, which is not kept, and whether it is nofollow."""
    targets = b"".join([_TARGETS[url] for url, _, _ in links])
    return targets + bytes([nofollow for _, _, nofollow in links])


def decode_links(value: bytes, name: str = "links", offset: int = 0) -> OutLinks:
    """Return the links packed in `value`, which lies in the block at `offset` of the file `name`."""
    count, rest = divmod(len(value), LINK_BYTES)
    flags = value[TARGET_BYTES * count :]
    if rest or flags.strip(b"\0\1"):
        raise CorruptFile(name, offset, f"{len(value)} bytes cannot be links of {LINK_BYTES} bytes each")
    return OutLinks(unpack(f">{count}Q", value[: TARGET_BYTES * count]), tuple(map(bool, flags)))


def count_nofollow(value: bytes) -> int:
    """Return how many of some packed links are nofollow."""
    return value.count(1, len(value) // LINK_BYTES * TARGET_BYTES)
