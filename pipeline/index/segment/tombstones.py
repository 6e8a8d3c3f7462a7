"""Tombstones: which documents of a segment are deleted since the segment was written.

A document is deleted when its page is gone, moved, excluded or a duplicate, or was indexed again in a newer
segment. Each merge writes the tombstones of a partition again, as a side file of records (side_file.py). A
record has the compressed bitmap of the deleted documents by ordinal, bit 0 first; the checksum covers the
plain bitmap.
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


_codec = CODECS["default"]


class Tombstones(msgspec.Struct, frozen=True, array_like=True):
    """The deleted documents of one segment."""

    segment: str  # its name
    documents: int
    dead: int  # how many of them are deleted
    reanchored: int  # documents whose anchors have changed since they were indexed
    bitmap: bytes  # one bit per document, set for the deleted

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
    kept = [one for one in tombstones if one.dead or one.reanchored]
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


def _checked(tombstones: Tombstones) -> tuple[bytes, bytes]:
    return f"{tombstones.segment} {tombstones.documents}".encode(), tombstones.bitmap


def _packed(tombstones: Tombstones) -> Tombstones:
    return msgspec.structs.replace(tombstones, bitmap=_codec.compress(tombstones.bitmap))


def _unpacked(packed: Tombstones) -> Tombstones:
    size = (packed.documents + 7) // 8
    bitmap = _codec.decompress(packed.bitmap, size)
    if len(bitmap) != size:
        raise ValueError(f"{len(bitmap)} bytes for {packed.documents} documents")
    if (marked := int.from_bytes(bitmap, "big").bit_count()) != packed.dead:
        raise ValueError(f"{marked} documents are marked and {packed.dead} should be")
    return msgspec.structs.replace(packed, bitmap=bitmap)


_LAYOUT = RecordLayout(DELETED, Tombstones, _checked, _packed, _unpacked)
