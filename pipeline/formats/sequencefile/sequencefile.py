"""Writer and reader of Hadoop SequenceFiles, version 6: records behind a header, with sync markers.

Keys and values are payloads: of a Text the UTF-8, of a BytesWritable the bytes, without Hadoop's lengths
before them. A SequenceFile does not record its own length, so a file that is cut between two blocks reads as
a shorter file; manifests have sizes and checksums for that.
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
    SoughtBlock,
    StoredBlock,
    StringBlock,
    encode_block,
    encode_copy,
    encode_sections,
    read_blocks,
    read_sought,
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
from crawlctl.pipeline.formats.sequencefile.packed_records import PackedRecords, PendingBlock
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
    """Writes records to a sink, which it leaves open; `position` is the offset of the next block or record.

    Records of a block wait in memory until they fill it, as Python objects or packed from numpy arrays; only
    one of the two is in use at a time. `on_block` is called with the first key and the offset of each block.
    """

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
        sync = os.urandom(SYNC_BYTES) if sync is None else sync
        _check_options(codec, sync, block_bytes)
        codec_class = "" if compression == "none" else CODECS[codec].class_name
        header = Header(key_class, value_class, compression, codec_class, sync, metadata or {})
        encoded = encode_checked_header(header)
        self.header = replace(header, end=len(encoded))
        self.records = 0
        self.position = 0
        self.block_ends: list[int] = []  # for each block so far, the records up to its end
        self._sink = sink
        self._layout = Layout.of(self.header, max_block_bytes)
        self._encoder = RecordEncoder(self._layout, sync_interval)
        self._block_bytes = block_bytes
        self._on_block = on_block
        self._keys: list[bytes] = []
        self._values: list[bytes] = []
        self._sizes: list[int] = []  # bytes of each key and value together
        self._pending = 0  # bytes of all pending keys and values
        self._packed: PendingBlock | None = None  # if set, the three lists are empty
        self._closed = False
        self._write(encoded)

    def append(self, key: bytes, value: bytes) -> None:
        """Add one record."""
        self.extend((key,), (value,))

    def extend(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Add many records, several times faster than one by one; the file is the same."""
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
        """Add many records from numpy arrays; the file is the same."""
        if self.header.compression != "block":
            self.extend(keys.tolist(), values.tolist())
            return
        if self._closed or len(keys) != len(values):
            raise ValueError("the writer is closed, or there are not as many keys as values")
        if len(keys):
            self.records += len(keys)
            self._extend_packed(keys, values)

    def copy(self, keys: Sequence[bytes], block: StoredBlock) -> None:
        """Add a block of another file under other keys; its compressed values are copied as they are."""
        stored, own = block.layout, self._layout
        if (stored.codec, stored.value) != (own.codec, own.value) or self.header.compression != "block":
            raise ValueError("a block of another codec or class of values; unpack its values and extend")
        if self._closed or len(keys) != len(block.keys):
            raise ValueError("the writer is closed, or there are not as many keys as values")
        if not keys:
            return
        self._write_pending()
        self._write_indexed(keys[0], len(keys), encode_copy(self._layout, keys, block))
        self.records += len(keys)

    def close(self) -> None:
        """Write the pending records."""
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
        """Write blocks of the fewest pending records that fill each, and keep the rest."""
        ends = list(accumulate(self._sizes))
        start = written = 0
        while ends[-1] - written >= self._block_bytes:
            stop = bisect_left(ends, written + self._block_bytes, start) + 1
            self._write_block(self._keys[start:stop], self._values[start:stop])
            start, written = stop, ends[stop - 1]
        del self._keys[:start], self._values[:start], self._sizes[:start]
        self._pending = ends[-1] - written

    def _extend_packed(self, keys: ByteStrings, values: ByteStrings) -> None:
        """Write the same blocks from numpy arrays, and keep the rest packed."""
        import numpy as np

        packed = PackedRecords(self._layout, keys, values)
        pending = self._pack_pending()
        ends = np.cumsum(keys.lengths + values.lengths) + self._pending
        start = written = 0
        while ends[-1] - written >= self._block_bytes:
            stop = int(np.searchsorted(ends, written + self._block_bytes)) + 1
            pending.add(keys[start], stop - start, packed.sections(start, stop))
            self._write_packed(pending)
            pending = PendingBlock()
            start, written = stop, int(ends[stop - 1])
        if start < len(keys):
            pending.add(keys[start], len(keys) - start, packed.sections(start, len(keys)))
        self._packed, self._pending = pending, int(ends[-1]) - written

    def _pack_pending(self) -> PendingBlock:
        """Return the pending records packed, and empty the lists."""
        pending = self._packed or PendingBlock()
        if self._keys:
            sections = self._layout.key.pack(self._keys) + self._layout.value.pack(self._values)
            pending.add(self._keys[0], len(self._keys), sections)
            self._keys, self._values, self._sizes = [], [], []
        return pending

    def _unpack_pending(self) -> None:
        """Put the packed pending records into the lists."""
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

    def _write_packed(self, pending: PendingBlock) -> None:
        block = encode_sections(self._layout, pending.count, pending.sections())
        self._write_indexed(pending.first_key, pending.count, block)

    def _write_block(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        self._write_indexed(keys[0], len(keys), encode_block(self._layout, keys, values))

    def _write_indexed(self, first_key: bytes, count: int, block: bytes) -> None:
        if self._on_block is not None:
            self._on_block(first_key, self.position)
        self._write(block)
        self.block_ends.append((self.block_ends[-1] if self.block_ends else 0) + count)

    def _write(self, data: bytes) -> None:
        self._sink.write(data)
        self.position += len(data)


def _check_options(codec: str, sync: bytes, block_bytes: int) -> None:
    if codec not in CODECS:
        raise ValueError(f"unknown codec {codec!r}; take one of {', '.join(CODECS)}")
    if len(sync) != SYNC_BYTES:
        raise ValueError(f"a marker of {len(sync)} bytes; it has {SYNC_BYTES}")
    if block_bytes < 1:
        raise ValueError(f"blocks of {block_bytes} bytes; they need at least 1")


class SequenceFileReader:
    """Reads the records of a file; bytes that break the format are a CorruptFile.

    Whatever the file claims, the reader holds at most about three times `max_block_bytes`, and the
    read-ahead.
    """

    def __init__(
        self,
        source: RangedSource,
        *,
        header: Header | None = None,
        max_block_bytes: int = MAX_BLOCK_BYTES,
        read_ahead: int = READ_AHEAD,
    ) -> None:
        self.name = source.name
        self._source = source
        self._read_ahead = read_ahead
        self._window = Window(source, source.size, read_ahead)
        self.header = header or read_header(self._window)
        try:
            self._layout = Layout.of(self.header, max_block_bytes)
        except ValueError as err:
            raise UnsupportedFile(source.name, 0, str(err)) from err

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        for block in self.blocks():
            yield from zip(block.keys, block.values, strict=True)

    def blocks(self) -> Iterator[Block]:
        """Return all records in batches, far faster than one by one."""
        return self._scan(self._window, self.header.end, self._source.size)

    def stored_blocks(self) -> Iterator[StoredBlock]:
        """Return the blocks of a block-compressed file with their values still compressed."""
        return read_stored_blocks(self._layout, self._window, self.header.end, self._source.size)

    def blocks_from(self, position: int, stop: int) -> Iterator[Block]:
        """Return the records that begin in [position, stop); `position` is a `position` that a writer had."""
        return self._scan(Window(self._source, stop, self._read_ahead), position, stop)

    def sought_from(self, position: int, stop: int) -> Iterator[Block | SoughtBlock]:
        """Return the same records in blocks in which keys can be looked up; the keys must rise."""
        window = Window(self._source, stop, self._read_ahead)
        if self.header.compression == "block":
            return read_sought(self._layout, window, position, stop)
        return self._scan(window, position, stop)

    def strings_from(self, position: int, stop: int) -> Iterator[StringBlock]:
        """Return the same records in numpy arrays."""
        window = Window(self._source, stop, self._read_ahead)
        if self.header.compression == "block":
            return read_strings(self._layout, window, position, stop)
        return map(_as_strings, self._scan(window, position, stop))

    def _scan(self, window: Window, position: int, stop: int) -> Iterator[Block]:
        if self.header.compression == "block":
            return read_blocks(self._layout, window, position, stop)
        return read_records(self._layout, window, position, stop)


def _as_strings(block: Block) -> StringBlock:
    from crawlctl.pipeline.arrays.byte_strings import strings_of

    return StringBlock(block.offset, strings_of(block.keys), strings_of(block.values))
