"""Tombstones: which documents of a segment are deleted since the segment was written.

A document is deleted when its page is gone, moved, excluded or a duplicate, or was indexed again in a newer
segment. Each merge writes the tombstones of a partition again, as a side file of records (side_file.py). A
record has two compressed bitmaps by ordinal, bit 0 first: the deleted documents, and the documents whose
pages have other anchors now than were indexed. The second bitmap is empty if there are no such documents;
records of older versions only have their number. The checksum covers the bitmaps before compression. The next
merge continues with these bitmaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.formats.sequencefile.codecs import CODECS
from crawlctl.pipeline.index.segment.side_file import RecordLayout
from crawlctl.pipeline.state.kinds import DELETED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


MISSING_BYTES = 4  # of the 8 bytes of a hash: two pages of a partition hardly ever agree in these

_codec = CODECS["default"]


class Tombstones(msgspec.Struct, frozen=True, array_like=True):
    """The deleted documents of one segment."""

    segment: str  # its name
    documents: int
    dead: int  # how many of them are deleted
    reanchored: int  # documents whose anchors have changed since they were indexed
    bitmap: bytes  # one bit per document, set for the deleted
    other_anchors: bytes = b""  # one bit per document, set for those that count as `reanchored`
    missing: bytes = b""  # for a frontier segment: 4 bytes of the hash of each page found since

    @property
    def stale(self) -> int:
        """The number of documents that are not as the segment has them, or are not in it."""
        return self.dead + self.reanchored + len(self.missing) // MISSING_BYTES

    @property
    def tells_anchors(self) -> bool:
        """Whether it says which documents are reanchored, not only how many."""
        return not self.reanchored or bool(self.other_anchors)

    def __contains__(self, ordinal: int) -> bool:
        return bool(self.bitmap[ordinal >> 3] >> (ordinal & 7) & 1)


def write_tombstones(
    store: Store,
    tombstones: Iterable[Tombstones],
    *,
    partition: int,
    round_number: int,
    frontiers: Collection[str] = (),
) -> tuple[FileEntry, ...]:
    """Write the tombstones of a partition; if no document was deleted or got other anchors, write no file.

    `frontiers` are the names of frontier segments: their documents are not among those that can be read, and
    so the counter `dead` leaves them out.
    """
    kept = [one for one in tombstones if one.stale]
    if not kept:
        return ()
    documents = [one for one in kept if one.segment not in frontiers]
    counters = {
        "dead": sum(one.dead for one in documents),
        "reanchored": sum(one.reanchored for one in documents),
    }
    return (_LAYOUT.write(store, kept, partition=partition, round_number=round_number, counters=counters),)


def read_tombstones(store: Store, entries: Iterable[FileEntry]) -> dict[str, Tombstones]:
    """Return the tombstones in the files of a snapshot, by the name of their segment."""
    return _LAYOUT.read(store, entries)


def _checked(tombstones: Tombstones) -> tuple[bytes, ...]:
    named = f"{tombstones.segment} {tombstones.documents}".encode()
    return named, tombstones.bitmap, tombstones.other_anchors, tombstones.missing


def _packed(tombstones: Tombstones) -> Tombstones:
    other = tombstones.other_anchors
    return msgspec.structs.replace(
        tombstones,
        bitmap=_codec.compress(tombstones.bitmap),
        other_anchors=_codec.compress(other) if other else b"",
    )


def _unpacked(packed: Tombstones) -> Tombstones:
    bitmap = _bitmap(packed.bitmap, packed.documents, packed.dead)
    other = packed.other_anchors and _bitmap(packed.other_anchors, packed.documents, packed.reanchored)
    return msgspec.structs.replace(packed, bitmap=bitmap, other_anchors=other)


def _bitmap(compressed: bytes, documents: int, marked: int) -> bytes:
    size = (documents + 7) // 8
    bitmap = _codec.decompress(compressed, size)
    if len(bitmap) != size:
        raise ValueError(f"{len(bitmap)} bytes for {documents} documents")
    if (found := int.from_bytes(bitmap, "big").bit_count()) != marked:
        raise ValueError(f"{found} documents are marked and {marked} should be")
    return bitmap


_LAYOUT = RecordLayout(DELETED, Tombstones, _checked, _packed, _unpacked)
