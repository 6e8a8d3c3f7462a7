"""Term infos: where the posting list of a term lies.

Term infos are the values of terms, both in segments and in the dictionary.

    a short list   count (1 byte, 1–8), greatest impact (1), bytes of its documents section and of its
                   positions section (1 each), and the two sections
    any other      0 (1 byte), greatest impact (1), count (4), offset in `postings` (8), bytes of its
                   documents section (4), which lies there, and of its positions section (4), which follows;
                   all little-endian

Most terms of a crawl are rare: with their lists in the dictionary a query needs no further read for them.
"""

from __future__ import annotations

import struct
from struct import Struct
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.index.segment.postings.plain_lists import PackedList

MAX_INLINED_COUNT = 8
MAX_INLINED_BYTES = 64

_SHORT = Struct("<BBBB")
_LONG = Struct("<BBIQII")
# The second form again, for numpy (postings/list_writer.py).
LONG_COLUMNS = [
    ("zero", "u1"),
    ("impact", "u1"),
    ("count", "<u4"),
    ("offset", "<u8"),
    ("documents", "<u4"),
    ("positions", "<u4"),
]
_pack_short, _pack_long = _SHORT.pack, _LONG.pack
SHORT_HEAD_BYTES = _SHORT.size


class TermInfo(msgspec.Struct, frozen=True, gc=False):
    """The posting list of a term in one segment; if it is short, `inlined` holds both of its sections."""

    segment: int
    count: int
    max_impact: int
    offset: int
    documents_bytes: int
    positions_bytes: int
    inlined: bytes


def pack_term_infos(lists: Iterable[PackedList], offset: int) -> tuple[list[bytes], list[bytes]]:
    """Return the term info of each list, and the bytes to write to `postings` from `offset` on."""
    infos: list[bytes] = []
    sections: list[bytes] = []
    for packed in lists:
        documents, positions, count = packed.documents, packed.positions, packed.count
        first, second = len(documents), len(positions)
        if count <= MAX_INLINED_COUNT and first + second <= MAX_INLINED_BYTES:
            infos.append(_pack_short(count, packed.max_impact, first, second) + documents + positions)
        else:
            infos.append(_pack_long(0, packed.max_impact, count, offset, first, second))
            sections += documents, positions
            offset += first + second
    return infos, sections


def decode_term_info(data: bytes, start: int = 0, segment: int = 0) -> tuple[TermInfo, int]:
    """Return the term info packed at `start` and the offset behind it; raise ValueError on damage."""
    try:
        head, impact, documents, positions = _SHORT.unpack_from(data, start)
        if head:
            sections = start + _SHORT.size
            end = sections + documents + positions
            if head > MAX_INLINED_COUNT or end > len(data):
                raise ValueError(f"a list of {head} documents with its term is cut off or too long")
            return TermInfo(segment, head, impact, 0, documents, positions, data[sections:end]), end
        _, impact, count, offset, documents, positions = _LONG.unpack_from(data, start)
    except struct.error as err:
        raise ValueError("a term info is cut off") from err
    return TermInfo(segment, count, impact, offset, documents, positions, b""), start + _LONG.size
