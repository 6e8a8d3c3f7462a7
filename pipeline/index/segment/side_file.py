"""Side files: data about the segments of a partition that changes while the segments do not.

A segment is never rewritten for a change of a few documents. The data that change are kept in side files, one
per partition and kind, which map the names of segments to their data: tombstones, duplicate groups, priors,
and what was compared for the groups.
There are two layouts, because readers differ:

    records   MessagePack [version, CRC-32, [record, …]], one record per segment that begins with its name.
              Tombstones and duplicate groups: small, and each reader needs all of them, so a file is
              read whole.

    ranged    length of the directory, CRC-32 of the directory (4 bytes each, little-endian)
              directory: MessagePack [[segment, offset, length, CRC-32], …], offsets from its end
              the bytes of each segment, one after the other
              Priors (one byte per document) and what was compared (44 bytes): the largest. A merge and the
              search for duplicates need those of some segments only; each segment is one ranged read with
              its own checksum.

The CRC-32 finds damage at every read. Only `crawlctl check` and `crawlctl copy` compare the SHA-256 in the
manifest, because that needs the whole file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate
from struct import Struct
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar
from zlib import crc32

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import Count, FileEntry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlctl.pipeline.store.base import Store

_VERSION = 1
_HEAD = Struct("<II")
_FIRST_READ = 64 << 10  # bytes; holds the directory of a partition, unless the partition is huge


class SegmentRecord(Protocol):
    """What a side file of records knows about one segment."""

    @property
    def segment(self) -> str:
        """The name of the segment."""


Record = TypeVar("Record", bound=SegmentRecord)


class _RecordFile(msgspec.Struct, frozen=True, array_like=True):
    version: int
    checksum: int
    records: tuple[msgspec.Raw, ...]


_decode_file = msgspec.msgpack.Decoder(_RecordFile).decode
_encode = msgspec.msgpack.Encoder().encode


class RecordLayout(msgspec.Struct, Generic[Record], frozen=True):
    """How the records of one kind of side file are stored; there is one constant of it per kind.

    `checked` returns the bytes of a record that its checksum covers. `pack` and `unpack` turn a record into
    its stored form and back; `unpack` raises ValueError for an impossible record.
    """

    kind: str
    record: type[Record]
    checked: Callable[[Record], Iterable[bytes]]
    pack: Callable[[Record], Record]
    unpack: Callable[[Record], Record]

    def write(
        self,
        store: Store,
        records: Sequence[Record],
        *,
        partition: int,
        round_number: int,
        counters: Mapping[str, int],
    ) -> FileEntry:
        """Write the records of a partition as a new file."""
        packed = tuple(msgspec.Raw(_encode(self.pack(record))) for record in records)
        with store.write(data_name(self.kind, partition, round_number)) as sink:
            sink.write(_encode(_RecordFile(_VERSION, self._checksum(records), packed)))
        return FileEntry(
            self.kind, partition, sink.name, sink.bytes, len(records), sink.checksum, dict(counters)
        )

    def read(self, store: Store, entries: Iterable[FileEntry]) -> dict[str, Record]:
        """Return all records in the files of this kind among `entries`, by the name of their segment."""
        files = (self._read_file(store, entry) for entry in entries if entry.kind == self.kind)
        return {record.segment: record for records in files for record in records}

    def _read_file(self, store: Store, entry: FileEntry) -> list[Record]:
        name = store.locate(entry.name)
        data = store.read(entry.name)
        try:
            file = _decode_file(data)
            packed = (msgspec.msgpack.decode(record, type=self.record) for record in file.records)
            records = list(map(self.unpack, packed))
        except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as err:
            raise CorruptFile(name, 0, f"not a file of kind {self.kind} ({err})") from err
        if file.version != _VERSION or file.checksum != self._checksum(records):
            raise CorruptFile(name, 0, "the records do not fit their checksum")
        return records

    def _checksum(self, records: Iterable[Record]) -> int:
        checksum = 0
        for record in records:
            for data in self.checked(record):
                checksum = crc32(data, checksum)
        return checksum


class _Range(msgspec.Struct, frozen=True, array_like=True):
    segment: str
    offset: Count  # from the end of the directory
    length: Count
    checksum: int


_decode_directory = msgspec.msgpack.Decoder(tuple[_Range, ...]).decode


def write_ranged(
    store: Store, kind: str, data: Mapping[str, bytes], *, partition: int, round_number: int
) -> FileEntry:
    """Write the bytes of each segment as a new ranged file."""
    ends = accumulate(map(len, data.values()))
    ranges = [
        _Range(segment, end - len(some), len(some), crc32(some))
        for end, (segment, some) in zip(ends, data.items(), strict=True)
    ]
    directory = _encode(ranges)
    with store.write(data_name(kind, partition, round_number)) as sink:
        sink.write(_HEAD.pack(len(directory), crc32(directory)) + directory)
        for some in data.values():
            sink.write(some)
    return FileEntry(kind, partition, sink.name, sink.bytes, len(ranges), sink.checksum)


class RangedSideFile:
    """Reads a ranged file; holds its directory only. Damage is a CorruptFile."""

    def __init__(self, store: Store, entry: FileEntry) -> None:
        self._store = store
        self._entry = entry
        self._start, self._ranges = self._read_directory()

    def __contains__(self, segment: str) -> bool:
        return segment in self._ranges

    @property
    def segments(self) -> tuple[str, ...]:
        """The names of the segments that the file is about."""
        return tuple(self._ranges)

    def of(self, segment: str) -> bytes | None:
        """Return the bytes of a segment by one ranged read, None if the file has none of it."""
        found = self._ranges.get(segment)
        if found is None:
            return None
        start = self._start + found.offset
        data = self._store.read(self._entry.name, start, found.length)
        if len(data) != found.length or crc32(data) != found.checksum:
            raise self._corrupt(start, f"the {self._entry.kind} of {segment} do not fit their checksum")
        return data

    def _read_directory(self) -> tuple[int, dict[str, _Range]]:
        """Return where the data of the segments begin, and the range of each."""
        directory, checksum = self._read_head()
        if crc32(directory) != checksum:
            raise self._corrupt(_HEAD.size, "the directory does not fit its checksum")
        try:
            ranges = _decode_directory(directory)
        except (msgspec.MsgspecError, UnicodeDecodeError) as err:
            raise self._corrupt(_HEAD.size, f"not a directory of segments ({err})") from err
        return _HEAD.size + len(directory), {one.segment: one for one in ranges}

    def _read_head(self) -> tuple[bytes, int]:
        """Return the directory, not yet checked, and its checksum."""
        data = self._store.read(self._entry.name, 0, _FIRST_READ)
        if len(data) < _HEAD.size:
            raise self._corrupt(0, f"too short for a file of kind {self._entry.kind}")
        length, checksum = _HEAD.unpack_from(data)
        end = _HEAD.size + length
        if end > self._entry.bytes:
            raise self._corrupt(0, f"a directory of {end} bytes in a file of {self._entry.bytes}")
        if end > len(data):
            data += self._store.read(self._entry.name, len(data), end - len(data))
        return data[_HEAD.size : end], checksum

    def _corrupt(self, offset: int, reason: str) -> CorruptFile:
        return CorruptFile(self._store.locate(self._entry.name), offset, reason)
