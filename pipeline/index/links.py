"""The links of a document: where they lead, by the stable hash of the URL, and whether they vouch for it.

    targets   8 bytes each, big-endian, in the order of the page
    flags     1 byte each: 1 nofollow; the other bits are 0

All links of a page are kept, those out of the crawl's scope too: ranking decides what it follows.
"""

from __future__ import annotations

from functools import lru_cache
from struct import pack, unpack
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.net.urls import stable_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

NOFOLLOW = 1

_LINK_BYTES = 9
# The pages of a site share most of their links, and looking one up takes a tenth of the time of hashing it.
_target_of = lru_cache(maxsize=1 << 14)(stable_hash)


class OutLinks(NamedTuple):
    """The links of one document."""

    targets: tuple[int, ...]
    nofollow: tuple[bool, ...]


def encode_links(links: Sequence[tuple[str, str, bool]]) -> bytes:
    """Return the packed links; each is a URL, an anchor, which is not kept, and whether it is nofollow."""
    targets = [_target_of(url) for url, _, _ in links]
    flags = bytes(NOFOLLOW if nofollow else 0 for _, _, nofollow in links)
    return pack(f">{len(targets)}Q", *targets) + flags


def decode_links(value: bytes, name: str = "links", offset: int = 0) -> OutLinks:
    """Return the links packed in `value`, which lies in the block at `offset` of the file `name`."""
    count, rest = divmod(len(value), _LINK_BYTES)
    flags = value[8 * count :]
    if rest or flags.strip(b"\0\1"):
        raise CorruptFile(name, offset, f"{len(value)} bytes are no links of {_LINK_BYTES} bytes each")
    return OutLinks(unpack(f">{count}Q", value[: 8 * count]), tuple(map(bool, flags)))
