"""The records of the WebDB and how they are packed.

A value of the WebDB is a `WebEntry` as a msgpack array. What a selection looks at stands first, so that a
struct of the leading fields decodes without the rest, and the status is at a fixed byte, so that entries
are counted without being decoded at all. New fields go to the end, with a default: older files then read
as before.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from crawlctl.pipeline.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_ANCHORS = 16
MAX_ANCHOR_CHARS = 100
STATUS_BYTE = 3  # behind the three bytes of the head of a msgpack array of 16 to 65,535 elements


class Status(IntEnum):
    """What we know of a URL; the numbers are what the files hold."""

    UNFETCHED = 0  # known, never answered
    FETCHED = 1  # its document is in the index, and was new or changed when last fetched
    UNCHANGED = 2  # its document is in the index, and was as before when last fetched
    REDIRECTED = 3  # leads to `redirect_to`
    GONE = 4  # 404 or 410
    FORBIDDEN = 5  # 401 or 403, or robots.txt disallows it
    EXCLUDED = 6  # kept out of the index by our scope rules or by the page's own noindex
    FAILED = 7  # never a usable answer in as many tries as the policy allows
    DUPLICATE = 8  # has the content of `canonical`


LIVE = frozenset({Status.FETCHED, Status.UNCHANGED})


class WebEntry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """All we know of a URL; times are whole UTC seconds, 0 means never.

    A page that fails for a while keeps its status, and with it its document in the index; `tries` counts
    the failures in a row, `code` and `reason` name the last one.
    """

    status: Status
    next_due: int
    score: float
    depth: int
    first_seen: int
    last_tried: int = 0  # any outcome
    last_fetched: int = 0  # content received, or confirmed by a 304
    last_changed: int = 0
    interval: int = 0
    tries: int = 0
    code: int = 0
    signature: bytes = b""
    etag: str = ""
    last_modified: str = ""
    anchors: tuple[str, ...] = ()  # as `sample_anchors` gives them
    reason: str = ""
    redirect_to: str = ""
    canonical: str = ""
    source: str = ""  # the page it was first found on; empty for a seed

    @property
    def live(self) -> bool:
        """Whether the index holds a document of this URL."""
        return self.status in LIVE

    @property
    def validators(self) -> tuple[str, str]:
        """Return the ETag and Last-Modified to send with a request, empty where none may be sent.

        A page without a document in the index must be fetched whole: a 304 would leave nothing to index.
        """
        return (self.etag, self.last_modified) if self.live else ("", "")


class Fresh(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A URL found on a page, in a sitemap or in a seed file."""

    seen: int
    depth: int = 0
    score: float = 0.0
    anchors: tuple[str, ...] = ()
    source: str = ""


class Kind(IntEnum):
    """How a fetch ended; the numbers are what the files hold."""

    FETCHED = 0
    NOT_MODIFIED = 1  # 304
    DUPLICATE = 2  # fetched; `canonical` is the URL that has the same content
    NOINDEX = 3  # fetched; the page asks to be left out of the index
    FOUND = 4  # a redirect for now: 302, 303, 307
    MOVED = 5  # a redirect for good: 301, 308, or a page that names another as its new place
    GONE = 6  # 404, 410
    FORBIDDEN = 7  # 401, 403
    DISALLOWED = 8  # robots.txt was read and says no; one that cannot be read is FAILED
    EXCLUDED = 9  # our scope rules or limits say no
    FAILED = 10  # may pass: time-out, DNS, TLS, 429, 5xx, robots.txt out of reach


class Outcome(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the fetch of a URL reported."""

    kind: Kind
    fetched_at: int
    code: int = 0
    signature: bytes = b""
    etag: str = ""
    last_modified: str = ""
    retry_after: int = 0  # seconds, from Retry-After
    target: str = ""  # of a redirect
    canonical: str = ""
    reason: str = ""
    depth: int = 0  # counts only if the URL was not known yet


encode = msgspec.msgpack.Encoder().encode
decode_fresh = msgspec.msgpack.Decoder(Fresh).decode
decode_outcome = msgspec.msgpack.Decoder(Outcome).decode
_decode_entry = msgspec.msgpack.Decoder(WebEntry).decode


def decode_entry(value: bytes, name: str = "webdb", offset: int = 0) -> WebEntry:
    """Return the entry packed in `value`, which lies in the block at `offset` of the file `name`."""
    try:
        return _decode_entry(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, offset, f"not a WebDB entry ({err})") from err


def sample_anchors(anchors: Iterable[str]) -> tuple[str, ...]:
    """Return at most MAX_ANCHORS of the distinct anchors, the same ones in whatever order they come.

    Those with the smallest checksums are kept: a fair sample that two entries agree on when merged, where
    keeping the first ones seen would depend on the order of merging.
    """
    distinct = {anchor[:MAX_ANCHOR_CHARS] for anchor in anchors if anchor}
    # Most links have one anchor, and this is done for every link of a round.
    return tuple(distinct if len(distinct) < 2 else sorted(distinct, key=_anchor_rank)[:MAX_ANCHORS])


def _anchor_rank(anchor: str) -> tuple[int, str]:
    return crc32(anchor.encode("utf-8", "surrogatepass")), anchor
