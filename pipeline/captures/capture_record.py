"""CaptureRecord: an archived answer: when it came, its status and type, and its place in the archives.

The table of captures has a row per URL: its WebDB key, and all captures of the URL packed together, the
oldest first. So one look-up finds all versions of a page, and for a revisit also the answer that has the
body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.kinds import PAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_OWN = f"{PAGES}/"
_MAX_MIME = 128  # the most characters of a media type; servers may send anything


class CaptureRecord(msgspec.Struct, frozen=True, array_like=True):
    """One archived answer; new fields go to the end and have defaults."""

    time: int  # seconds since 1970, when the request was made
    status: int
    mime: str  # media type of the answer, without parameters; empty if it has none
    digest: str  # the digest of the body, as WARC writes it: sha1:…; empty if it is not known
    file: str  # the name of the archive in the store; an imported one has its path or URI
    offset: int  # the offset in the archive of the answer's record, in bytes
    # How many compressed bytes this record has; 0: it shares a gzip member with other records, as in imported
    # archives that were compressed as a whole.
    length: int
    # how many bytes the record of the request has, which stands directly before; 0: there is none
    request: int = 0
    is_revisit: bool = False  # an answer 304: the body is in an earlier capture

    @property
    def is_imported(self) -> bool:
        """Whether the archive is a file of the user, which is not in the store."""
        return not self.file.startswith(_OWN)

    @property
    def has_content(self) -> bool:
        """Whether it is an answer 2xx, which a later revisit may refer to."""
        return not self.is_revisit and 200 <= self.status < 300


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[CaptureRecord])


def encode_captures(captures: Sequence[CaptureRecord]) -> bytes:
    """Return the captures of one URL packed."""
    return _encoder.encode(captures)


def decode_captures(value: bytes, name: str = "captures", offset: int = 0) -> list[CaptureRecord]:
    """Return the captures of a row; errors name the place of the row by `name` and `offset`."""
    try:
        return _decoder.decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, offset, f"not a row of captures ({err})") from err


def joined(captures: Iterable[CaptureRecord]) -> list[CaptureRecord]:
    """Return the captures of one URL in one list, the oldest first; each record of an archive occurs once."""
    places = {(capture.file, capture.offset, capture.time): capture for capture in captures}
    return sorted(places.values(), key=lambda one: (one.time, one.file, one.offset))


def media_type(content_type: str) -> str:
    """Return the media type of a Content-Type header in lower case, without parameters."""
    return content_type.partition(";")[0].strip().lower()[:_MAX_MIME]


def original_of(capture: CaptureRecord, captures: Sequence[CaptureRecord]) -> CaptureRecord | None:
    """Return the capture that has the body of a capture, among all captures of its URL.

    It is the capture itself or, for a revisit, the last answer with content before it. None if no archive has
    that answer any more.
    """
    if not capture.is_revisit:
        return capture
    older = (one for one in captures if one.time <= capture.time and one.has_content)
    return max(older, key=lambda one: one.time, default=None)


def has_answer(captures: Sequence[CaptureRecord]) -> bool:
    """Return whether the body of the last capture of a URL is archived; captures come oldest first."""
    return bool(captures) and original_of(captures[-1], captures) is not None
