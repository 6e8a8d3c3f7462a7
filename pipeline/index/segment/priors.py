"""Priors: what the rank of its page adds to the score of a document, a byte each.

One file a partition: a length and a CRC-32 (4 bytes each, little-endian) of so many bytes of MessagePack that
say where the bytes of each segment lie and what their CRC-32 is, then those bytes by ordinal. 0
stands for a page whose rank is not known.
"""

from __future__ import annotations

from itertools import accumulate
from math import log2
from struct import Struct
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import Count, FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlctl.pipeline.store.base import Store

PRIORS = "priors"
MAX_PRIOR = 255

# A page of average rank comes in the lower half. One of a thousand times that has the most there is: with
# more, the front pages of a few hosts would drown better matches.
_LEAST, _MOST = 2.0**-5, 2.0**10

_HEAD = Struct("<II")
_FIRST_READ = 64 << 10


class _Span(msgspec.Struct, frozen=True, array_like=True):
    segment: str
    offset: Count  # behind the directory
    documents: Count
    checksum: int


_directory = msgspec.msgpack.Decoder(tuple[_Span, ...])


def prior_byte(rank_times_n: float) -> int:
    """Return the prior of a page whose rank is so many times the average: its logarithm, capped, not 0."""
    bounded = min(max(rank_times_n, _LEAST), _MOST)
    return 1 + round((MAX_PRIOR - 1) * (log2(bounded) - log2(_LEAST)) / (log2(_MOST) - log2(_LEAST)))


def write_priors(
    store: Store, priors: Mapping[str, bytes], *, partition: int, round_number: int
) -> tuple[FileEntry, ...]:
    """Write the priors of the segments of a partition, by their names; where there are none, no file."""
    if not priors:
        return ()
    ends = accumulate(map(len, priors.values()))
    spans = [
        _Span(name, end - len(data), len(data), crc32(data))
        for end, (name, data) in zip(ends, priors.items(), strict=True)
    ]
    directory = msgspec.msgpack.encode(spans)
    with store.write(data_name(PRIORS, partition, round_number)) as sink:
        sink.write(_HEAD.pack(len(directory), crc32(directory)) + directory)
        for data in priors.values():
            sink.write(data)
    return (FileEntry(PRIORS, partition, sink.name, sink.bytes, len(spans), sink.checksum),)


class PriorReader:
    """The priors of a partition, a ranged read each; a damaged file is a CorruptFile."""

    def __init__(self, store: Store, entry: FileEntry) -> None:
        self._store = store
        self._entry = entry
        self._start, self._spans = self._read_directory()

    def __contains__(self, segment: str) -> bool:
        return segment in self._spans

    def of(self, segment: str) -> bytes | None:
        """Return the priors of a segment by ordinal, None where its pages have no ranks."""
        span = self._spans.get(segment)
        if span is None:
            return None
        data = self._store.read(self._entry.name, self._start + span.offset, span.documents)
        if len(data) != span.documents or crc32(data) != span.checksum:
            raise self._corrupt(
                self._start + span.offset, f"the priors of {segment} do not fit their checksum"
            )
        return data

    def _read_directory(self) -> tuple[int, dict[str, _Span]]:
        data = self._store.read(self._entry.name, 0, _FIRST_READ)
        if len(data) < _HEAD.size:
            raise self._corrupt(0, "too short for priors")
        length, checksum = _HEAD.unpack_from(data)
        start = _HEAD.size + length
        if start > self._entry.bytes:
            raise self._corrupt(0, f"a directory of {start} bytes in a file of {self._entry.bytes}")
        if start > len(data):
            data += self._store.read(self._entry.name, len(data), start - len(data))
        directory = data[_HEAD.size : start]
        if crc32(directory) != checksum:
            raise self._corrupt(_HEAD.size, "the directory of priors does not fit its checksum")
        try:
            spans = _directory.decode(directory)
        except (msgspec.MsgspecError, UnicodeDecodeError) as err:
            raise self._corrupt(_HEAD.size, f"not a directory of priors ({err})") from err
        return start, {span.segment: span for span in spans}

    def _corrupt(self, offset: int, reason: str) -> CorruptFile:
        return CorruptFile(self._store.locate(self._entry.name), offset, reason)


def read_priors(store: Store, entries: Iterable[FileEntry]) -> dict[int, PriorReader]:
    """Return the priors in the files of a snapshot, by partition."""
    return {entry.partition: PriorReader(store, entry) for entry in entries if entry.kind == PRIORS}
