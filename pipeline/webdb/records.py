"""The records of the WebDB and how they are packed.

A value of the WebDB is a `WebEntry` as a msgpack array. The fields that decide whether and when a URL is
fetched come first, so that they can be read without decoding the rest (packed.py). New fields go to the end,
with a default: then older files can still be read. packed.py relies on `named` and `lastmod` being the last
fields.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

import msgspec

from crawlctl.pipeline.errors import CorruptFile

# A due time, in 2100: the URL is not visited until the scope of the crawl changes (webdb/revision).
NEVER = 4_102_444_800

Rows: TypeAlias = tuple[list[bytes], list[bytes]]  # keys and packed values, in key order


class Status(IntEnum):
    """The state of a URL; the files hold the numbers."""

    UNFETCHED = 0  # known, and no host has answered yet
    FETCHED = 1  # its document is in the index; it was new or had changed at the last fetch
    UNCHANGED = 2  # its document is in the index; it had not changed at the last fetch
    REDIRECTED = 3  # it redirects to `redirect_to`
    GONE = 4  # 404 or 410
    FORBIDDEN = 5  # 401 or 403, or robots.txt disallows it
    EXCLUDED = 6  # kept out of the index by our scope rules or by the page's own noindex
    FAILED = 7  # no usable answer in retry_limit tries in a row
    # its leader is `canonical`: a page with the same content, or the page that it names as canonical
    DUPLICATE = 8


LIVE = frozenset({Status.FETCHED, Status.UNCHANGED})


class WebEntry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Everything the crawl knows about a URL; times are whole UTC seconds, 0 means never.

    A page that fails for a while keeps its status and its document in the index. `tries` counts the failures
    in a row, `code` and `reason` are those of the last outcome.
    """

    status: Status
    next_due: int
    score: float
    depth: int
    first_seen: int
    last_tried: int = 0  # time of the last outcome of any kind
    last_fetched: int = 0  # time at which content was received, or confirmed by a 304
    last_changed: int = 0
    interval: int = 0  # seconds between two visits
    tries: int = 0
    code: int = 0
    signature: bytes = b""
    etag: str = ""
    last_modified: str = ""
    anchors: tuple[str, ...] = ()  # see anchors.py
    reason: str = ""
    redirect_to: str = ""  # the target; in older stores also the page that a duplicate names in its place
    canonical: str = ""  # for a duplicate: its leader; empty after the leader has left the index
    # The page that led here: the nearest to a seed, then first by URL; empty for a seed. Of an imported page:
    # its archive (scope/belonging.py).
    source: str = ""
    anchor_weights: tuple[int, ...] = ()
    links_taken: int = 0  # links taken so far, if a page has more links than one visit may take; else 0
    hops: int = 0  # the smallest number of redirects in a row that led here; 0 if a page links here
    named: str = ""  # the page that this page names as canonical (rel=canonical), whether we follow it or not
    lastmod: int = 0  # the latest time of a change that a sitemap or feed states, if it is believable
    published: int = 0  # the earliest time of publication that a feed states, if it is believable

    def is_due(self, now: float) -> bool:
        """Return whether the URL is to be fetched now."""
        return self.next_due <= now

    @property
    def live(self) -> bool:
        """Whether the index holds a document of this URL."""
        return self.status in LIVE

    @property
    def has_words(self) -> bool:
        """Whether the content last read has words; a page without words may not lead a page with words."""
        return self.signature != b""

    @property
    def names(self) -> str:
        """The page that this page names in its place, also in entries of older stores."""
        return self.named or (self.redirect_to if self.status is Status.DUPLICATE else "")

    @property
    def confirmable(self) -> bool:
        """Whether a 304 is enough: it confirms content that the crawl has already used.

        If the crawl has kept nothing of the content, there would be nothing to index after a 304. An excluded
        page counts only if its last outcome was a fetch: then its own noindex keeps it out, not a rule of the
        crawl.
        """
        if self.status is Status.EXCLUDED:
            return self.last_fetched == self.last_tried > 0
        return self.live or self.status is Status.DUPLICATE

    @property
    def validators(self) -> tuple[str, str]:
        """The ETag and Last-Modified to send; empty if a 304 would not be enough.

        The validators of a duplicate may be sent only while its leader is live, which select/validators.py
        finds out.
        """
        # If this visit is for remaining links, a 304 would bring none of them.
        return (self.etag, self.last_modified) if self.confirmable and not self.links_taken else ("", "")


class Fresh(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A discovery: a URL found on a page, in a sitemap or in a seed file."""

    seen: int
    depth: int = 0
    score: float = 0.0
    anchors: tuple[str, ...] = ()
    source: str = ""
    anchor_weights: tuple[int, ...] = ()
    hops: int = 0  # the number of redirects in a row that led here
    lastmod: int = 0  # when the page has changed, by a sitemap or feed
    published: int = 0  # when it was published, by a feed


def earliest(one: int, other: int) -> int:
    """Return the earlier of two times; 0 means unknown."""
    return min(one, other) or max(one, other)


class Kind(IntEnum):
    """How a fetch ended; the files hold the numbers."""

    FETCHED = 0
    NOT_MODIFIED = 1  # 304
    DUPLICATE = 2  # fetched, with the same content as `canonical`; the WebDB merge finds it out
    NOINDEX = 3  # fetched; the page says that it should not be indexed
    FOUND = 4  # temporary redirect: 300, 302, 303, 307
    MOVED = 5  # permanent redirect: 301, 308, or a page that names another as its new address
    GONE = 6  # 404, 410
    FORBIDDEN = 7  # 401, 403, 451
    DISALLOWED = 8  # robots.txt was read and disallows it; if robots.txt cannot be read, FAILED
    EXCLUDED = 9  # excluded by scope rules or limits of the crawl
    FAILED = 10  # may work later: time-out, DNS, TLS, 429, 5xx, robots.txt not reachable
    KEPT = 11  # imported and outside the scope: not requested, and its document stays
    DOCUMENT_LOST = 12  # no fetch: a repair found that the document of the page is lost
    RECORD_LOST = 13  # no fetch: a repair found that the page is in the index and no longer in the archive


class Outcome(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the fetch of a URL reported."""

    kind: Kind
    fetched_at: int
    code: int = 0
    signature: bytes = b""
    etag: str = ""
    last_modified: str = ""
    retry_after: int = 0  # seconds, from Retry-After
    target: str = ""  # the target of a redirect; in older stores also the page that a DUPLICATE names
    canonical: str = ""
    reason: str = ""
    depth: int = 0  # used only if the URL was not known yet
    links_taken: int = 0  # as in a WebEntry
    named: str = ""  # as in a WebEntry
    imported: str = ""  # the source of the entry, if the page comes from an archive
    is_outside: bool = False  # for a page from an archive: it is outside the scope, so it is not visited


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
