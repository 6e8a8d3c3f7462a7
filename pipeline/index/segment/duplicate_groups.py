"""Groups of near duplicates over the whole crawl: which documents of a segment say what another one says.

One file a partition: MessagePack of its segments, each with the ordinals of its grouped documents, rising
(4 bytes, little-endian), and the group of each (8 bytes): the `stable_hash` of the URL that represents it.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlctl.pipeline.store.base import Store

GROUPS = "groups"

_VERSION = 1


class Groups(msgspec.Struct, frozen=True, array_like=True, dict=True):
    """The grouped documents of one segment; most are in no group."""

    segment: str  # its name
    packed_ordinals: bytes
    packed_groups: bytes

    @cached_property
    def ordinals(self) -> array[int]:
        """The ordinals of the grouped documents, rising."""
        return _numbers("I", self.packed_ordinals)

    @cached_property
    def groups(self) -> array[int]:
        """The group of each of them."""
        return _numbers("Q", self.packed_groups)

    def group_of(self, ordinal: int) -> int | None:
        """Return the group of a document, None if no other says the same."""
        place = bisect_left(self.ordinals, ordinal)
        found = place < len(self.ordinals) and self.ordinals[place] == ordinal
        return self.groups[place] if found else None


class _File(msgspec.Struct, frozen=True, array_like=True):
    version: int
    checksum: int  # CRC-32 of the numbers
    segments: tuple[Groups, ...]


_decoder = msgspec.msgpack.Decoder(_File)


def pack_groups(segment: str, members: Mapping[int, int]) -> Groups:
    """Return the groups of a segment from those of its documents by ordinal."""
    ordinals = sorted(members)
    return Groups(segment, _bytes("I", ordinals), _bytes("Q", [members[ordinal] for ordinal in ordinals]))


def write_groups(
    store: Store, segments: Iterable[Groups], *, partition: int, round_number: int
) -> tuple[FileEntry, ...]:
    """Write the groups of all segments of a partition; one without any was compared too, and is named."""
    kept = tuple(segments)
    with store.write(data_name(GROUPS, partition, round_number)) as sink:
        sink.write(msgspec.msgpack.encode(_File(_VERSION, _checksum(kept), kept)))
    counters = {"grouped": sum(len(groups.ordinals) for groups in kept)}
    return (FileEntry(GROUPS, partition, sink.name, sink.bytes, len(kept), sink.checksum, counters),)


def read_groups(store: Store, entries: Iterable[FileEntry]) -> dict[str, Groups]:
    """Return the groups in the files of a snapshot, by the name of their segment."""
    found: dict[str, Groups] = {}
    for entry in entries:
        if entry.kind == GROUPS:
            found.update((groups.segment, groups) for groups in _read(store, entry))
    return found


def _read(store: Store, entry: FileEntry) -> tuple[Groups, ...]:
    name = store.locate(entry.name)
    try:
        file = _decoder.decode(store.read(entry.name))
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, 0, f"no groups of duplicates ({err})") from err
    if file.version != _VERSION or file.checksum != _checksum(file.segments):
        raise CorruptFile(name, 0, "the groups do not fit their checksum")
    for groups in file.segments:
        count, rest = divmod(len(groups.packed_ordinals), 4)
        if rest or len(groups.packed_groups) != 8 * count:
            raise CorruptFile(name, 0, f"{groups.segment} has not as many groups as documents")
    return file.segments


def _checksum(segments: Iterable[Groups]) -> int:
    checksum = 0
    for groups in segments:
        for data in (groups.segment.encode(), groups.packed_ordinals, groups.packed_groups):
            checksum = crc32(data, checksum)
    return checksum


def _numbers(code: str, data: bytes) -> array[int]:
    numbers = array(code, data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _bytes(code: str, numbers: list[int]) -> bytes:
    packed = array(code, numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
