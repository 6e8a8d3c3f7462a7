"""What a merge has to know of a page: whether it is to be found, and by which anchors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from crawlctl.pipeline.urls.hosts import url_in_key
from crawlctl.pipeline.webdb.packed import statuses
from crawlctl.pipeline.webdb.records import LIVE, Status, decode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.webdb.part import WebDbPart

_MAY_BE_INDEXED = LIVE | {Status.UNFETCHED}


class PageState(NamedTuple):
    """A page that is live, or that was not fetched yet and has anchors; all others have no document."""

    key: bytes  # of the WebDB
    live: bool = True
    anchors: tuple[str, ...] = ()  # the best first
    score: float = 0.0

    @property
    def url(self) -> bytes:
        """The URL, which the host leads in the key."""
        return url_in_key(self.key)


def pages_of(part: WebDbPart | None) -> Iterator[PageState]:
    """Yield the pages of a part that a merge has to know, in key order; what else it holds is not decoded."""
    if part is None:
        return
    for block in part.blocks():
        found = statuses(block.values, part.name, block.offset)
        for key, value, status in zip(block.keys, block.values, found, strict=True):
            if status in _MAY_BE_INDEXED:
                entry = decode_entry(value, part.name, block.offset)
                if entry.live or entry.anchors:
                    yield PageState(key, entry.live, entry.anchors, entry.score)


def checksum(anchors: Iterable[str]) -> int:
    """Return what tells whether the anchors of a page are those that were indexed; 0 where it has none."""
    return crc32("\n".join(anchors).encode("utf-8", "replace"))
