"""The records of the WebDB and how they are packed.

A value of the WebDB is a `WebEntry` as a msgpack array. The fields that decide whether and when a URL is
fetched come first, so that they can be read without decoding the rest (packed.py). New fields go to the end,
with a default: then older files can still be read. packed.py relies on `named` being the last field.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

import msgspec

from crawlctl.pipeline.errors import CorruptFile

Rows: TypeAlias = tuple[list[bytes], list[bytes]]  # keys and packed values, in key order


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
    DUPLICATE = 8  # `canonical` stands for it: it has the same content, or the page names it in its place


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
    anchors: tuple[str, ...] = ()  # see anchors.py
    reason: str = ""
    redirect_to: str = ""  # where it leads; in older stores also the page that a duplicate names in its place
    canonical: str = ""  # of a duplicate, the page that stands for it; empty once that one is gone
    source: str = ""  # of the pages nearest to a seed that led here the first by URL; empty for a seed
    anchor_weights: tuple[int, ...] = ()
    links_taken: int = 0  # how many of its links have had their turn, where others wait for the next visit
    hops: int = 0  # the fewest redirects in a row that led here; 0 where a page links to it
    named: str = ""  # the page that this one names in its place (rel=canonical), followed or not

    def is_due(self, now: float) -> bool:
        """Return whether the URL is to be fetched now."""
        return self.next_due <= now

    @property
    def live(self) -> bool:
        """Whether the index holds a document of this URL."""
        return self.status in LIVE

    @property
    def has_words(self) -> bool:
        """Whether what was last read of it holds words; only such a page may stand for one that has some."""
        return self.signature != b""

    @property
    def names(self) -> str:
        """The page that this one names in its place, in entries of older stores too."""
        return self.named or (self.redirect_to if self.status is Status.DUPLICATE else "")

    @property
    def confirmable(self) -> bool:
        """Whether a 304 tells all there is to be known: that what we made of the content still holds.

        Where we have kept nothing of the content a 304 would leave nothing to index. Of an excluded page that
        was not fetched last we cannot tell whether its own noindex or a rule of ours keeps it out.
        """
        if self.status is Status.EXCLUDED:
            return self.last_fetched == self.last_tried > 0
        return self.live or self.status is Status.DUPLICATE

    @property
    def validators(self) -> tuple[str, str]:
        """Return ETag and Last-Modified of what a 304 would confirm, empty where it would confirm nothing.

        Those of a duplicate may be sent only while its leader stands, which select/validators.py finds out.
        """
        # Where links wait to be taken up a 304 would bring none.
        return (self.etag, self.last_modified) if self.confirmable and not self.links_taken else ("", "")


class Fresh(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A URL found on a page, in a sitemap or in a seed file."""

    seen: int
    depth: int = 0
    score: float = 0.0
    anchors: tuple[str, ...] = ()
    source: str = ""
    anchor_weights: tuple[int, ...] = ()
    hops: int = 0  # redirects in a row that led here


class Kind(IntEnum):
    """How a fetch ended; the numbers are what the files hold."""

    FETCHED = 0
    NOT_MODIFIED = 1  # 304
    DUPLICATE = 2  # fetched with the content of `canonical`, which the merge of the WebDB finds out
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
    target: str = ""  # of a redirect; in older stores also what a DUPLICATE names in its place
    canonical: str = ""
    reason: str = ""
    depth: int = 0  # counts only if the URL was not known yet
    links_taken: int = 0  # as in a WebEntry
    named: str = ""  # as in a WebEntry


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
