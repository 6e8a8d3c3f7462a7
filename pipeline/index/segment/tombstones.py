"""Tombstones: which documents of the segments of a partition have died since their segment was written.

One file a partition, written anew by each merge: MessagePack of the segments that have any, each with a
bitmap of its dead by ordinal (bit 0 first), compressed. A dead document is one whose page is gone, moved,
excluded or a duplicate by now, or was indexed again in a newer segment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.codecs import CODECS
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.store.base import Store

DELETED = "deleted"

_VERSION = 1
_codec = CODECS["default"]


class Tombstones(msgspec.Struct, frozen=True, array_like=True):
    """The dead of one segment."""

    segment: str  # its name
    documents: int
    dead: int
    reanchored: int  # documents whose anchors have changed since they were indexed
    bitmap: bytes  # a bit a document, set for the dead

    def __contains__(self, ordinal: int) -> bool:
        return bool(self.bitmap[ordinal >> 3] >> (ordinal & 7) & 1)


class _File(msgspec.Struct, frozen=True, array_like=True):
    version: int
    checksum: int  # CRC-32 of the bitmaps
    segments: tuple[Tombstones, ...]


_decoder = msgspec.msgpack.Decoder(_File)


def write_tombstones(
    store: Store, stones: Iterable[Tombstones], *, partition: int, round_number: int
) -> tuple[FileEntry, ...]:
    """Write the tombstones of a partition; where nothing has died or was linked anew, no file."""
    segments = tuple(stone for stone in stones if stone.dead or stone.reanchored)
    if not segments:
        return ()
    packed = tuple(msgspec.structs.replace(s, bitmap=_codec.compress(s.bitmap)) for s in segments)
    name = data_name(DELETED, partition, round_number)
    with store.write(name) as sink:
        sink.write(msgspec.msgpack.encode(_File(_VERSION, _checksum(segments), packed)))
    counters = {"dead": sum(s.dead for s in segments), "reanchored": sum(s.reanchored for s in segments)}
    return (FileEntry(DELETED, partition, sink.name, sink.bytes, len(segments), sink.checksum, counters),)


def read_tombstones(store: Store, entries: Iterable[FileEntry]) -> dict[str, Tombstones]:
    """Return the tombstones in the files of a snapshot, by the name of their segment."""
    stones: dict[str, Tombstones] = {}
    for entry in entries:
        if entry.kind == DELETED:
            stones.update((stone.segment, stone) for stone in _read(store, entry))
    return stones


def _read(store: Store, entry: FileEntry) -> tuple[Tombstones, ...]:
    name = store.locate(entry.name)
    data = store.read(entry.name)
    try:
        file = _decoder.decode(data)
        segments = tuple(map(_unpacked, file.segments))
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as err:
        raise CorruptFile(name, 0, f"no tombstones ({err})") from err
    if file.version != _VERSION or file.checksum != _checksum(segments):
        raise CorruptFile(name, 0, "the tombstones do not fit their checksum")
    return segments


def _unpacked(stones: Tombstones) -> Tombstones:
    size = (stones.documents + 7) // 8
    bitmap = _codec.decompress(stones.bitmap, size)
    if len(bitmap) != size:
        raise ValueError(f"{len(bitmap)} bytes for {stones.documents} documents")
    if (marked := int.from_bytes(bitmap, "big").bit_count()) != stones.dead:
        raise ValueError(f"{marked} documents are marked and {stones.dead} should be")
    return msgspec.structs.replace(stones, bitmap=bitmap)


def _checksum(segments: Iterable[Tombstones]) -> int:
    checksum = 0
    for stones in segments:
        checksum = crc32(stones.bitmap, crc32(f"{stones.segment} {stones.documents}".encode(), checksum))
    return checksum
