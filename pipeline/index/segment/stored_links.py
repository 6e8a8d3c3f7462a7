"""The links of a document: where they lead, by the stable hash of the URL, and whether they vouch for it.

    targets   8 bytes each, big-endian, in the order of the page
    flags     1 byte each: 1 nofollow, 0 not

All links of a page are kept, those out of the crawl's scope too: ranking decides what it follows.
"""

from __future__ import annotations

from struct import unpack
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.urls.hosts import stable_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINK_BYTES = 9
_MAX_REMEMBERED = 1 << 15
_MAX_CHARS = 200  # of a URL that is remembered; pages full of longer ones mean harm


class _Targets(dict[str, bytes]):
    """The packed hashes of the URLs met so far, of which the pages of a site share most."""

    def __missing__(self, url: str) -> bytes:
        if len(self) >= _MAX_REMEMBERED:
            self.clear()
        found = stable_hash(url).to_bytes(8, "big")
        if len(url) <= _MAX_CHARS:
            self[url] = found
        return found


_TARGETS = _Targets()


class OutLinks(NamedTuple):
    """The links of one document."""

    targets: tuple[int, ...]
    nofollow: tuple[bool, ...]


def encode_links(links: Sequence[tuple[str, str, bool]]) -> bytes:
    """Return the packed links; each is a URL, an anchor, which is not kept, and whether it is nofollow."""
    targets = b"".join([_TARGETS[url] for url, _, _ in links])
    return targets + bytes([nofollow for _, _, nofollow in links])


def decode_links(value: bytes, name: str = "links", offset: int = 0) -> OutLinks:
    """Return the links packed in `value`, which lies in the block at `offset` of the file `name`."""
    count, rest = divmod(len(value), _LINK_BYTES)
    flags = value[8 * count :]
    if rest or flags.strip(b"\0\1"):
        raise CorruptFile(name, offset, f"{len(value)} bytes are no links of {_LINK_BYTES} bytes each")
    return OutLinks(unpack(f">{count}Q", value[: 8 * count]), tuple(map(bool, flags)))
