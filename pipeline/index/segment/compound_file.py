"""The compound file: copies of the bytes that every query reads, so that one request fetches all of them.

The name is Lucene's. A query needs the sparse index of the dictionary, tombstones, priors, duplicate groups
and more, of every partition and segment: on S3 each is a request. The compound file of a snapshot holds
ranges of these files:

    length of the directory, CRC-32 of the directory (4 bytes each, little-endian)
    directory: MessagePack [[file, start, length, CRC-32], …]
    the bytes of each range, one after the other

Files never change, so a range is right for as long as a snapshot names its file. A compound file that is
missing, damaged or older than the snapshot costs requests, never a wrong answer.
"""

from __future__ import annotations

from itertools import accumulate
from struct import Struct
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.kinds import COMPOUND
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import Count, FileEntry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.store.base import Store

    Ranges = Mapping[tuple[str, int], bytes]  # by the name of the file and the offset of the first byte

_HEAD = Struct("<II")


class _Copied(msgspec.Struct, frozen=True, array_like=True):
    """One range: the name of its file, its offset, its length in bytes, and its checksum."""

    file: str
    start: Count
    length: Count
    checksum: int


_decode_directory = msgspec.msgpack.Decoder(tuple[_Copied, ...]).decode
_encode = msgspec.msgpack.Encoder().encode


def write_compound(store: Store, ranges: Ranges, *, round_number: int) -> FileEntry:
    """Write a compound file of these ranges."""
    copied = [_Copied(file, start, len(data), crc32(data)) for (file, start), data in ranges.items()]
    directory = _encode(copied)
    with store.write(data_name(COMPOUND, 0, round_number)) as sink:
        sink.write(_HEAD.pack(len(directory), crc32(directory)) + directory)
        for data in ranges.values():
            sink.write(data)
    return FileEntry(COMPOUND, 0, sink.name, sink.bytes, len(copied), sink.checksum)


class CompoundFile:
    """The ranges in the bytes of a compound file, checked when they are first asked for.

    A directory that cannot be read is a CorruptFile. A range that does not fit its checksum is left out.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self._data = memoryview(data)
        self._ranges: dict[str, list[tuple[_Copied, int]]] = {}
        self._sound: dict[_Copied, bool] = {}
        directory, first = _directory_of(data, name)
        ends = accumulate((copied.length for copied in directory), initial=first)
        for copied, at in zip(directory, ends, strict=False):
            self._ranges.setdefault(copied.file, []).append((copied, at))

    def find(self, file: str, start: int, length: int) -> bytes | None:
        """Return a range of bytes of a file, None if no copied range holds all of it."""
        for copied, at in self._ranges.get(file, ()):
            inside = start - copied.start
            if inside >= 0 and inside + length <= copied.length and self._is_sound(copied, at):
                return bytes(self._data[at + inside : at + inside + length])
        return None

    def ranges(self) -> dict[tuple[str, int], bytes]:
        """Return all ranges that fit their checksums."""
        listed = (pair for pairs in self._ranges.values() for pair in pairs)
        return {
            (copied.file, copied.start): bytes(self._data[at : at + copied.length])
            for copied, at in listed
            if self._is_sound(copied, at)
        }

    def _is_sound(self, copied: _Copied, at: int) -> bool:
        sound = self._sound.get(copied)
        if sound is None:
            data = self._data[at : at + copied.length]
            sound = self._sound[copied] = len(data) == copied.length and crc32(data) == copied.checksum
        return sound


def _directory_of(data: bytes, name: str) -> tuple[tuple[_Copied, ...], int]:
    """Return the directory, and the offset of the bytes behind it."""
    if len(data) < _HEAD.size:
        raise CorruptFile(name, 0, "too short for a compound file")
    length, checksum = _HEAD.unpack_from(data)
    end = _HEAD.size + length
    if crc32(data[_HEAD.size : end]) != checksum or end > len(data):
        raise CorruptFile(name, _HEAD.size, "the directory does not fit its checksum")
    try:
        return _decode_directory(data[_HEAD.size : end]), end
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, _HEAD.size, f"not a directory of ranges ({err})") from err
