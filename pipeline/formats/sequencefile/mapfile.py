"""Writer and reader of Hadoop MapFiles.

A MapFile is two files: `data`, records in key order, and `index`, some keys with their offsets. Both are
SequenceFiles. Keys compare as bytes, which is how Hadoop compares Text and BytesWritable. With block
compression Hadoop indexes every 128th key, wherever it lies in its block; we index the first key of every
block, so that a look-up inflates one block. Hadoop reads our files, and we read files of Hadoop.

The metadata of our indexes hold the header of the data, which Hadoop ignores: with it a look-up reads nothing
of the data but the block of its key. An index of Hadoop or of an older version costs one read more.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from bisect import bisect_left, bisect_right
from itertools import groupby, islice
from operator import le, lt
from typing import TYPE_CHECKING, TypeVar

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.block_body import MAX_BLOCK_BYTES, Block
from crawlctl.pipeline.formats.sequencefile.header import encode_checked_header, read_header
from crawlctl.pipeline.formats.sequencefile.sequencefile import (
    BLOCK_BYTES,
    SequenceFileReader,
    SequenceFileWriter,
)
from crawlctl.pipeline.formats.sequencefile.writables import BYTES, LONG, TEXT, pack_long, unpack_long
from crawlctl.pipeline.formats.source import HeldBytes
from crawlctl.pipeline.formats.window import READ_AHEAD, Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import BinaryIO

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.formats.sequencefile.block_body import SoughtBlock, StoredBlock, StringBlock
    from crawlctl.pipeline.formats.sequencefile.header import Compression, Header
    from crawlctl.pipeline.formats.source import RangedSource

INDEX_INTERVAL = 128  # Hadoop's io.map.index.interval
MAX_INDEX_BYTES = 256 << 20
DATA_HEADER = "crawlctl.data.header"  # the name of the header of the data in the metadata of an index
HEADER_BYTES = 4096  # read at first of the data; nearly all headers are shorter

# How many keys must be looked up in a block of about a thousand rows, so that unpacking it takes less time.
_UNPACKED_FROM = 4
HELD_BYTES = 1 << 20  # the most bytes of blocks that are kept for further look-ups

_Block = TypeVar("_Block")
_Ranged = TypeVar("_Ranged", "Block", "StringBlock")

_ENTRY_OVERHEAD = 128  # bytes in memory per index entry, beyond the bytes of its key


class MapFileWriter:
    """Writes records in strictly rising key order to two sinks, which it leaves open."""

    def __init__(
        self,
        data: BinaryIO,
        index: BinaryIO,
        *,
        key_class: str = TEXT,
        value_class: str = BYTES,
        compression: Compression = "block",
        codec: str = "default",
        metadata: Mapping[str, str] | None = None,
        block_bytes: int = BLOCK_BYTES,
        max_block_bytes: int = MAX_BLOCK_BYTES,
    ) -> None:
        self._data = SequenceFileWriter(
            data,
            key_class=key_class,
            value_class=value_class,
            compression=compression,
            codec=codec,
            metadata=metadata,
            block_bytes=block_bytes,
            max_block_bytes=max_block_bytes,
            on_block=self._index_block,
        )
        held = {DATA_HEADER: b64encode(encode_checked_header(self._data.header)).decode()}
        self._index = SequenceFileWriter(index, key_class=key_class, value_class=LONG, metadata=held)
        self._last: bytes | None = None

    @property
    def records(self) -> int:
        """The number of records added."""
        return self._data.records

    @property
    def block_ends(self) -> list[int]:
        """For each block written so far, the number of records up to its end; all blocks after `close`."""
        return self._data.block_ends

    def append(self, key: bytes, value: bytes) -> None:
        """Add one record; its key must be above all keys before it."""
        self.extend((key,), (value,))

    def extend(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Add many records, several times faster than one by one."""
        if not keys:
            return
        self._check_order(keys)
        if self._data.header.compression == "block":
            self._data.extend(keys, values)
        else:
            self._extend_indexed(keys, values)
        self._last = keys[-1]

    def extend_strings(self, keys: ByteStrings, values: ByteStrings) -> None:
        """Add many records from numpy arrays; the files are the same."""
        from crawlctl.pipeline.arrays.byte_strings import are_rising

        if self._data.header.compression != "block":
            self.extend(keys.tolist(), values.tolist())
        elif len(keys):
            self._check_ends(keys[0], keys[-1], rising=are_rising(keys))
            self._data.extend_strings(keys, values)
            self._last = keys[-1]

    def copy(self, keys: Sequence[bytes], block: StoredBlock) -> None:
        """Add a block of another file under other keys; its compressed values are copied as they are."""
        if not keys:
            return
        self._check_order(keys)
        self._data.copy(keys, block)
        self._last = keys[-1]

    def close(self) -> None:
        """Write the pending records, first of the data, then of the index."""
        self._data.close()
        self._index.close()

    def __enter__(self) -> MapFileWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()

    def _check_order(self, keys: Sequence[bytes]) -> None:
        self._check_ends(keys[0], keys[-1], rising=all(map(lt, keys, islice(keys, 1, None))))

    def _check_ends(self, first: bytes, last: bytes, *, rising: bool) -> None:
        if self._last is not None and first <= self._last:
            raise ValueError(f"key {first!r} after {self._last!r}; sort the keys and drop duplicates")
        if not rising:
            raise ValueError("keys out of order; sort them and drop duplicates")
        if self._data.header.key_class == LONG and last >= b"\x80":
            raise ValueError("a negative LongWritable key, which Hadoop would sort elsewhere")

    def _extend_indexed(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Write records without blocks, with an index entry for every 128th."""
        start = 0
        while start < len(keys):
            due = self._data.records % INDEX_INTERVAL
            if due == 0:
                self._index_block(keys[start], self._data.position)
            stop = start + INDEX_INTERVAL - due
            self._data.extend(keys[start:stop], values[start:stop])
            start = stop

    def _index_block(self, first_key: bytes, position: int) -> None:
        self._index.append(first_key, pack_long(position))


class MapFileReader:
    """Looks up keys and ranges of keys.

    It reads the index once and keeps it, and the blocks of the last look-ups. A `get` is mostly one ranged
    read.
    (`cached_property` would hold a lock of all readers while one of them reads, until Python 3.12.)
    """

    def __init__(
        self,
        data: RangedSource,
        index: RangedSource,
        *,
        max_block_bytes: int = MAX_BLOCK_BYTES,
        max_index_bytes: int = MAX_INDEX_BYTES,
        read_ahead: int = READ_AHEAD,
    ) -> None:
        self._data = data
        self._index_source = index
        self._max_block_bytes = max_block_bytes
        self._max_index_bytes = max_index_bytes
        self._read_ahead = read_ahead
        self._held: dict[int, Block | SoughtBlock] = {}  # by the index entry that led to them
        self._held_bytes = 0
        self._walked: Block | None = None  # the last block of `key_from`
        self._opened: SequenceFileReader | None = None
        self._held_index: tuple[list[bytes], list[int]] | None = None
        self._held_header: Header | None = None

    @property
    def header(self) -> Header:
        """The header of the data."""
        if self._held_header is None:
            self._held_header = read_header(Window(self._data, HEADER_BYTES))
        return self._held_header

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, None without one; if Hadoop wrote the key twice, one of its values."""
        return self.get_near((key,))[0]

    def get_near(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the value of each key, like `get`; the keys must rise, and nearly all should begin alike.

        Their block is looked up once, and kept: near keys are often looked up soon.
        """
        index, _ = self._index
        found: list[bytes | None] = []
        at = 0
        while at < len(keys):
            entry = bisect_right(index, keys[at]) - 1
            block = self._near(keys[at], entry) if entry >= 0 else None
            if block is None:
                found.append(None)
                at += 1
                continue
            after = bisect_right(keys, block.bounds[1], at)
            counted = block.size
            found += block.get_all(keys[at:after])
            if block.size > counted:  # its values are inflated now
                self._hold(entry, block, counted)
            at = after
        return found

    def _near(self, key: bytes, entry: int) -> Block | SoughtBlock | None:
        """Return the block whose first and last key enclose a key, and keep it; None without one."""
        block = self._held.get(entry)
        if block is None or not block.bounds[0] <= key <= block.bounds[1]:
            block = self._block_of(key, entry)
            if block is not None:
                self._hold(entry, block)
        return block

    def get_all(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that the file has, like `get`; the keys must rise.

        A block in which several keys are looked up is unpacked once, which is cheaper than as many `get`.
        """
        index, _ = self._index
        found: dict[bytes, bytes] = {}
        for entry, some in groupby(keys, key=lambda key: bisect_right(index, key) - 1):
            near = list(some)
            if entry < 0:
                continue
            values = self._values_near(entry, near) if len(near) >= _UNPACKED_FROM else map(self.get, near)
            found.update((key, value) for key, value in zip(near, values, strict=True) if value is not None)
        return found

    def _values_near(self, entry: int, keys: Sequence[bytes]) -> Iterator[bytes | None]:
        """Yield the value of each key, None without one; the keys rise, and begin behind an index entry."""
        blocks = self._scan(entry, entry + 1, self._reader.blocks_from)
        block = next(blocks, None)
        for key in keys:
            while block is not None and block.keys[-1] < key:
                block = next(blocks, None)
            yield None if block is None else block.get(key)

    def _hold(self, entry: int, block: Block | SoughtBlock, counted: int = 0) -> None:
        """Keep a block: near keys are often looked up soon. `counted` of its bytes are counted already."""
        if self._held_bytes + block.size - counted > HELD_BYTES:
            self._held, self._held_bytes, counted = {}, 0, 0
        self._held[entry] = block
        self._held_bytes += block.size - counted

    def range(self, start: bytes | None = None, stop: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Yield the records with start <= key < stop."""
        for block in self.ranged_blocks(start, stop):
            yield from zip(block.keys, block.values, strict=True)

    def ranged_blocks(self, start: bytes | None = None, stop: bytes | None = None) -> Iterator[Block]:
        """Return the same records, many at a time."""
        return self._ranged(start, stop, self._reader.blocks_from)

    def block_number(self, number: int) -> Block:
        """Return a whole block of a file that this module wrote, whose index has each block once."""
        _, offsets = self._index
        if not 0 <= number < len(offsets) - 1:
            raise CorruptFile(self._index_source.name, 0, f"no block {number} among {len(offsets) - 1}")
        found = [*self._reader.blocks_from(offsets[number], offsets[number + 1])]
        keys = [key for block in found for key in block.keys]
        return Block(offsets[number], keys, [value for block in found for value in block.values])

    def key_from(self, start: bytes) -> bytes | None:
        """Return the first key that is not below `start`, or None; keep its block for the next call."""
        block = self._walked
        if block is None or not block.keys[0] <= start <= block.keys[-1]:
            first = max(bisect_right(self._index[0], start) - 1, 0)
            found = self._scan(first, first + 1, self._reader.blocks_from)
            block = next((some for some in found if some.keys[-1] >= start), None)
            if block is None:
                return None
            self._walked = block
        return block.keys[bisect_left(block.keys, start)]

    def strings(
        self, start: bytes | None = None, stop: bytes | None = None
    ) -> Iterator[tuple[ByteStrings, ByteStrings]]:
        """Yield the same records in numpy arrays, keys and values, many at a time."""
        for block in self._ranged(start, stop, self._reader.strings_from):
            yield block.keys, block.values

    def _ranged(
        self, start: bytes | None, stop: bytes | None, read: Callable[[int, int], Iterator[_Ranged]]
    ) -> Iterator[_Ranged]:
        keys, _ = self._index
        first = 0 if start is None else max(bisect_left(keys, start) - 1, 0)
        after = len(keys) if stop is None else bisect_left(keys, stop)
        if first >= after:
            return
        for block in self._scan(first, after, read):
            low = 0 if start is None else bisect_left(block.keys, start)
            high = len(block.keys) if stop is None else bisect_left(block.keys, stop)
            yield block.slice(low, high)
            if high < len(block.keys):
                return

    def blocks(self) -> Iterator[Block]:
        """Return all records in batches, without reading the index."""
        return self._reader.blocks()

    def stored_blocks(self) -> Iterator[StoredBlock]:
        """Return all records in blocks whose values are still compressed."""
        return self._reader.stored_blocks()

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        return iter(self._reader)

    @property
    def _reader(self) -> SequenceFileReader:
        if self._opened is None:
            self._opened = SequenceFileReader(
                self._data,
                header=self.header,
                max_block_bytes=self._max_block_bytes,
                read_ahead=self._read_ahead,
            )
        return self._opened

    @property
    def _index(self) -> tuple[list[bytes], list[int]]:
        """The indexed keys and their offsets in the data, and as a last offset the size of the data."""
        if self._held_index is None:
            self._held_index = self._read_index()
        return self._held_index

    def _read_index(self) -> tuple[list[bytes], list[int]]:
        reader = SequenceFileReader(self._index_source, max_block_bytes=self._max_block_bytes)
        if self._held_header is None:
            self._held_header = _header_in(reader)
        if (reader.header.key_class, reader.header.value_class) != (self.header.key_class, LONG):
            raise CorruptFile(self._index_source.name, 0, f"not an index of {self.header.key_class} keys")
        keys: list[bytes] = []
        offsets: list[int] = []
        held = 0
        for block in reader.blocks():
            held += sum(map(len, block.keys)) + _ENTRY_OVERHEAD * len(block.keys)
            if held > self._max_index_bytes:
                reason = f"an index above {self._max_index_bytes} bytes"
                raise CorruptFile(self._index_source.name, block.offset, reason)
            keys += block.keys
            offsets += map(unpack_long, block.values)
        offsets.append(self._data.size)
        are_sorted = all(map(le, keys, islice(keys, 1, None)))
        are_rising = all(map(lt, offsets, islice(offsets, 1, None)))
        if not (are_sorted and are_rising and offsets[0] == self.header.end):
            raise CorruptFile(self._index_source.name, 0, f"does not fit the data in {self._data.name}")
        return keys, offsets

    def _block_of(self, key: bytes, entry: int) -> Block | SoughtBlock | None:
        """Return the block from an index entry on whose first and last key enclose the key, or None."""
        for block in self._scan(entry, entry + 1, self._reader.sought_from):
            first, last = block.bounds
            if last >= key:
                return block if first <= key else None
        return None

    def _scan(self, first: int, after: int, read: Callable[[int, int], Iterator[_Block]]) -> Iterator[_Block]:
        """Yield the blocks between two index entries, and then further blocks while the caller asks for them.

        The second entry may name a key in the middle of its block, as index entries of Hadoop do. So keys
        below that key may be in the block to which the second entry points.
        """
        _, offsets = self._index
        yield from read(offsets[first], offsets[after])
        for entry in range(after, len(offsets) - 1):
            yield from read(offsets[entry], offsets[entry + 1])


def _header_in(index: SequenceFileReader) -> Header | None:
    """Return the header of the data that an index holds, None if it holds none."""
    held = index.header.metadata.get(DATA_HEADER)
    if held is None:
        return None
    try:
        data = b64decode(held, validate=True)
    except ValueError as err:
        raise CorruptFile(index.name, 0, f"not the header of data ({err})") from err
    return read_header(Window(HeldBytes(index.name, data), len(data)))
