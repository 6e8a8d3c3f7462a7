"""Hadoop SequenceFile, version 6: keys and values behind a header, splittable at sync markers.

Keys and values are payloads: of a Text the UTF-8, of a BytesWritable the bytes, without Hadoop's framing.
A file says nothing about its own end, so one cut between two blocks reads as a shorter file; manifests
carry sizes and checksums for that.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.errors import UnsupportedFile
from crawlctl.pipeline.formats.sequencefile.block_body import (
    MAX_BLOCK_BYTES,
    Block,
    Layout,
    StoredBlock,
    StringBlock,
    encode_block,
    encode_copy,
    encode_parts,
    read_blocks,
    read_stored_blocks,
    read_strings,
)
from crawlctl.pipeline.formats.sequencefile.codecs import CODECS
from crawlctl.pipeline.formats.sequencefile.header import (
    SYNC_BYTES,
    Compression,
    Header,
    encode_checked_header,
    read_header,
)
from crawlctl.pipeline.formats.sequencefile.packed_records import PackedRecords, PendingParts
from crawlctl.pipeline.formats.sequencefile.record_body import SYNC_INTERVAL, RecordEncoder, read_records
from crawlctl.pipeline.formats.sequencefile.writables import BYTES, TEXT
from crawlctl.pipeline.formats.window import READ_AHEAD, Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import BinaryIO

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.formats.source import RangedSource

BLOCK_BYTES = 1_000_000  # Hadoop's io.seqfile.compress.blocksize


class SequenceFileWriter:
    """Writes records to a sink, which it leaves open; `position` is where the next block or record begins."""

    def __init__(
        self,
        sink: BinaryIO,
        *,
        key_class: str = TEXT,
        value_class: str = BYTES,
        compression: Compression = "block",
        codec: str = "default",
        metadata: Mapping[str, str] | None = None,
        block_bytes: int = BLOCK_BYTES,
        max_block_bytes: int = MAX_BLOCK_BYTES,
        sync_interval: int = SYNC_INTERVAL,
        sync: bytes | None = None,
        on_block: Callable[[bytes, int], None] | None = None,
    ) -> None:
        if codec not in CODECS:
            raise ValueError(f"unknown codec {codec!r}; take one of {', '.join(CODECS)}")
        codec_class = "" if compression == "none" else CODECS[codec].class_name
        sync = os.urandom(SYNC_BYTES) if sync is None else sync
        if len(sync) != SYNC_BYTES:
            raise ValueError(f"a marker of {len(sync)} bytes; it has {SYNC_BYTES}")
        if block_bytes < 1:
            raise ValueError(f"blocks of {block_bytes} bytes; they need at least 1")
        header = Header(key_class, value_class, compression, codec_class, sync, metadata or {})
        encoded = encode_checked_header(header)
        self.header = replace(header, end=len(encoded))
        self.records = 0
        self.position = 0
        self._sink = sink
        self._layout = Layout.of(self.header, max_block_bytes)
        self._encoder = RecordEncoder(self._layout, sync_interval)
        self._block_bytes = block_bytes
        self._on_block = on_block
        self._keys: list[bytes] = []
        self._values: list[bytes] = []
        self._sizes: list[int] = []  # of keys and values together
        self._pending = 0
        self._packed: PendingParts | None = None  # then no others are pending
        self._closed = False
        self._write(encoded)

    def append(self, key: bytes, value: bytes) -> None:
        """Add one record."""
        self.extend((key,), (value,))

    def extend(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Add many records, several times faster than one by one; the file comes out the same."""
        if self._closed:
            raise ValueError("the writer is closed")
        if len(keys) != len(values):
            raise ValueError(f"{len(keys)} keys but {len(values)} values")
        if self.header.compression == "block":
            self._unpack_pending()
            sizes = list(map(add, map(len, keys), map(len, values)))
            self._keys += keys
            self._values += values
            self._sizes += sizes
            self._pending += sum(sizes)
            if self._pending >= self._block_bytes:
                self._write_full_blocks()
        else:
            self._write(self._encoder.encode(keys, values, self.position))
        self.records += len(keys)

    def extend_strings(self, keys: ByteStrings, values: ByteStrings) -> None:
        """Add many records that numpy holds; the file comes out the same."""
        if self.header.compression != "block":
            self.extend(keys.tolist(), values.tolist())
            return
        if self._closed or len(keys) != len(values):
            raise ValueError("the writer is closed, or there are not as many keys as values")
        if len(keys):
            self.records += len(keys)
            self._extend_packed(keys, values)

    def copy(self, keys: Sequence[bytes], block: StoredBlock) -> None:
        """Add a block of another file under other keys, its values as they are stored there."""
        stored, own = block.layout, self._layout
        if (stored.codec, stored.value) != (own.codec, own.value) or self.header.compression != "block":
            raise ValueError("a block of another codec or class of values; unpack its values and extend")
        if self._closed or len(keys) != len(block.keys):
            raise ValueError("the writer is closed, or there are not as many keys as values")
        if not keys:
            return
        self._write_pending()
        self._write_indexed(keys[0], encode_copy(self._layout, keys, block))
        self.records += len(keys)

    def close(self) -> None:
        """Write what is pending."""
        if not self._closed:
            self._write_pending()
        self._closed = True

    def __enter__(self) -> SequenceFileWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        self._closed = True

    def _write_full_blocks(self) -> None:
        """Write the shortest runs of pending records that fill a block, and keep the rest."""
        ends = list(accumulate(self._sizes))
        start = written = 0
        while ends[-1] - written >= self._block_bytes:
            stop = bisect_left(ends, written + self._block_bytes, start) + 1
            self._write_block(self._keys[start:stop], self._values[start:stop])
            start, written = stop, ends[stop - 1]
        del self._keys[:start], self._values[:start], self._sizes[:start]
        self._pending = ends[-1] - written

    def _extend_packed(self, keys: ByteStrings, values: ByteStrings) -> None:
        """Write the same blocks of records that numpy holds, and keep the rest packed."""
        import numpy as np

        packed = PackedRecords(self._layout, keys, values)
        pending = self._pack_pending()
        ends = np.cumsum(keys.lengths + values.lengths) + self._pending
        start = written = 0
        while ends[-1] - written >= self._block_bytes:
            stop = int(np.searchsorted(ends, written + self._block_bytes)) + 1
            pending.add(keys[start], stop - start, packed.part(start, stop))
            self._write_packed(pending)
            pending = PendingParts()
            start, written = stop, int(ends[stop - 1])
        if start < len(keys):
            pending.add(keys[start], len(keys) - start, packed.part(start, len(keys)))
        self._packed, self._pending = pending, int(ends[-1]) - written

    def _pack_pending(self) -> PendingParts:
        """Return the pending records packed."""
        pending = self._packed or PendingParts()
        if self._keys:
            parts = self._layout.key.pack(self._keys) + self._layout.value.pack(self._values)
            pending.add(self._keys[0], len(self._keys), parts)
            self._keys, self._values, self._sizes = [], [], []
        return pending

    def _unpack_pending(self) -> None:
        """Hold the pending records as lists."""
        if self._packed is not None and self._packed.count:
            self._keys, self._values = self._packed.unpacked(self._layout)
            self._sizes = list(map(add, map(len, self._keys), map(len, self._values)))
        self._packed = None

    def _write_pending(self) -> None:
        if self._packed is not None and self._packed.count:
            self._write_packed(self._packed)
        elif self._keys:
            self._write_block(self._keys, self._values)
        self._keys, self._values, self._sizes, self._packed, self._pending = [], [], [], None, 0

    def _write_packed(self, pending: PendingParts) -> None:
        block = encode_parts(self._layout, pending.count, pending.parts())
        self._write_indexed(pending.first_key, block)

    def _write_block(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        self._write_indexed(keys[0], encode_block(self._layout, keys, values))

    def _write_indexed(self, first_key: bytes, block: bytes) -> None:
        if self._on_block is not None:
            self._on_block(first_key, self.position)
        self._write(block)

    def _write(self, data: bytes) -> None:
        self._sink.write(data)
        self.position += len(data)


class SequenceFileReader:
    """Reads the records of a file, or of the part of it that begins at a marker in [start, end).

    Readers of adjoining parts together give each record once: the head of the file counts as a marker, and a
    part goes on to the first marker at or behind its end. Whatever the file claims, we hold no more than some
    three times `max_block_bytes` and the read-ahead; what breaks the format is a CorruptFile.
    """

    def __init__(
        self,
        source: RangedSource,
        start: int = 0,
        end: int | None = None,
        *,
        header: Header | None = None,
        max_block_bytes: int = MAX_BLOCK_BYTES,
        read_ahead: int = READ_AHEAD,
    ) -> None:
        self.name = source.name
        self._source = source
        self._start = start
        self._end = source.size if end is None else min(end, source.size)
        self._read_ahead = read_ahead
        self._window = Window(source, self._end, read_ahead)
        self.header = header or read_header(self._window if start == 0 else Window(source, 0))
        try:
            self._layout = Layout.of(self.header, max_block_bytes)
        except ValueError as err:
            raise UnsupportedFile(source.name, 0, str(err)) from err

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        for block in self.blocks():
            yield from zip(block.keys, block.values, strict=True)

    def blocks(self) -> Iterator[Block]:
        """Return the records of this part in batches, far faster than one by one."""
        first = self.header.end
        if first < self._start:
            first = self._window.find(self._layout.marker, self._start, self._end)
        if not 0 <= first < self._end:
            return iter(())
        return self._scan(self._window, first, self._end, split=True)

    def stored_blocks(self) -> Iterator[StoredBlock]:
        """Return the blocks of a whole block-compressed file with their values still compressed."""
        return read_stored_blocks(self._layout, self._window, self.header.end, self._end)

    def blocks_from(self, position: int, stop: int) -> Iterator[Block]:
        """Return the records that begin in [position, stop), where `position` is one that a writer gave."""
        window = Window(self._source, stop, self._read_ahead)
        return self._scan(window, position, stop, split=False)

    def strings_from(self, position: int, stop: int) -> Iterator[StringBlock]:
        """Return the same as numpy holds them."""
        window = Window(self._source, stop, self._read_ahead)
        if self.header.compression == "block":
            return read_strings(self._layout, window, position, stop)
        return map(_as_strings, self._scan(window, position, stop, split=False))

    def _scan(self, window: Window, position: int, stop: int, *, split: bool) -> Iterator[Block]:
        if self.header.compression == "block":
            return read_blocks(self._layout, window, position, stop)
        return read_records(self._layout, window, position, stop, split=split)


def _as_strings(block: Block) -> StringBlock:
    from crawlctl.pipeline.arrays.byte_strings import strings_of

    return StringBlock(block.offset, strings_of(block.keys), strings_of(block.values))
