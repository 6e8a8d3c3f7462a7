"""The body of a block-compressed SequenceFile.

    block = escape, sync, count, key lengths, keys, value lengths, values

The last four are the sections: each is the length of a compressed stream, and the stream. Numbers are
variable-length integers (vint.py).
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from crawlctl.pipeline.errors import CorruptFile, damage_in
from crawlctl.pipeline.formats.sequencefile.codecs import Codec, codec_of_class
from crawlctl.pipeline.formats.sequencefile.header import ESCAPE
from crawlctl.pipeline.formats.sequencefile.vint import encode_vint, read_vint
from crawlctl.pipeline.formats.sequencefile.writables import Cells, Column, Writable, writable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.formats.sequencefile.header import Header
    from crawlctl.pipeline.formats.window import Window

MAX_BLOCK_BYTES = 64 << 20

_Payloads = TypeVar("_Payloads")

_SECTIONS = ("key lengths", "keys", "value lengths", "values")
_OBJECTS = 66  # bytes of the objects of a key and a value, beside their contents
_SLICE = 1 << 14  # records handed out at once, so that a block of millions of empty records stays cheap


class Block(NamedTuple):
    """Records that lie together; `offset` is where the file stores the block, or the first of the records."""

    offset: int
    keys: list[bytes]
    values: list[bytes]

    def slice(self, start: int, stop: int) -> Block:
        """Return the records [start, stop)."""
        return Block(self.offset, self.keys[start:stop], self.values[start:stop])

    @property
    def bounds(self) -> tuple[bytes, bytes]:
        """The first and the last key."""
        return self.keys[0], self.keys[-1]

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return sum(map(len, self.keys)) + sum(map(len, self.values)) + _OBJECTS * len(self.keys)

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, None without one; the keys must rise."""
        row = bisect_left(self.keys, key)
        return self.values[row] if row < len(self.keys) and self.keys[row] == key else None

    def get_all(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the value of each key, None without one; the keys of the block must rise."""
        return [self.get(key) for key in keys]


class SoughtBlock:
    """A block in which a few keys are looked up: no record is taken out but those that are found.

    Making objects of all records takes longer than reading and inflating a block. The values are inflated
    when the first key is found: most terms that a dictionary is asked for are not in it.
    """

    def __init__(self, layout: Layout, count: int, streams: list[bytes], where: tuple[str, int]) -> None:
        self._layout = layout
        self._where = where  # the name of the file, and the offset of the block
        self._count = count
        with damage_in(*where):
            self._keys, self._left = self._cells(layout.key, streams[:2], layout.max_block_bytes)
            self.bounds = self._keys[0], self._keys[count - 1]
        self._streams = streams[2:]
        self._values: Cells | None = None

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes; more once a key is found, perhaps a thousand times."""
        values = self._values
        return self._keys.size + (sum(map(len, self._streams)) if values is None else values.size)

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, None without one."""
        return self._value(self._keys.row_of(key))

    def get_all(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the value of each key, None without one; fast if all keys begin alike."""
        return [self._value(row) for row in self._keys.rows_of(keys)]

    def _value(self, row: int) -> bytes | None:
        if row < 0:
            return None
        streams = self._streams  # before `_values`: another thread may inflate them meanwhile
        with damage_in(*self._where):
            if self._values is None:
                self._values, _ = self._cells(self._layout.value, streams, self._left)
                self._streams = []
            return self._values[row]

    def _cells(self, kind: Writable, streams: list[bytes], limit: int) -> tuple[Cells, int]:
        """Inflate the keys or the values to at most `limit` bytes; return them and the rest of the limit."""
        lengths = self._layout.codec.decompress(streams[0], limit)
        limit -= len(lengths)
        body = self._layout.codec.decompress(streams[1], limit)
        return Cells(kind, lengths, body, self._count), limit - len(body)


class StringBlock(NamedTuple):
    """A Block whose keys and values lie in numpy arrays."""

    offset: int
    keys: ByteStrings
    values: ByteStrings

    def slice(self, start: int, stop: int) -> StringBlock:
        """Return the records [start, stop)."""
        return StringBlock(self.offset, self.keys.between(start, stop), self.values.between(start, stop))


class StoredBlock(NamedTuple):
    """A block whose values are still compressed: they are copied to another file as they are, or unpacked."""

    offset: int
    keys: list[bytes]
    key_sections: tuple[bytes, bytes]  # lengths and keys, inflated
    key_streams: tuple[bytes, bytes]  # lengths and keys, compressed
    value_streams: tuple[bytes, bytes]
    layout: Layout
    name: str

    def values(self) -> list[bytes]:
        """Unpack the values and return them."""
        layout = self.layout
        try:
            lengths = layout.codec.decompress(self.value_streams[0], layout.max_block_bytes)
            body = layout.codec.decompress(self.value_streams[1], layout.max_block_bytes)
            column = Column(layout.value, lengths, body)
            values = column.take(len(self.keys))
            column.finish()
        except ValueError as err:
            raise CorruptFile(self.name, self.offset, str(err)) from err
        return values


class Layout(NamedTuple):
    """How the records of one file are stored, and how large a block of it may be."""

    key: Writable
    value: Writable
    codec: Codec
    marker: bytes
    max_block_bytes: int

    @property
    def max_stored_bytes(self) -> int:
        """The most bytes that a block may take in a file: random bytes grow when compressed."""
        return self.max_block_bytes + self.max_block_bytes // 64 + 1024

    @classmethod
    def of(cls, header: Header, max_block_bytes: int) -> Layout:
        """Return the layout that a header describes; an unknown codec is a ValueError."""
        return cls(
            writable(header.key_class),
            writable(header.value_class),
            codec_of_class(header.codec),
            ESCAPE + header.sync,
            max_block_bytes,
        )


def encode_block(layout: Layout, keys: Sequence[bytes], values: Sequence[bytes]) -> bytes:
    """Return the bytes of a block of these records; a block too large for readers is a ValueError."""
    return encode_sections(layout, len(keys), layout.key.pack(keys) + layout.value.pack(values))


def encode_sections(layout: Layout, count: int, sections: tuple[bytes, ...]) -> bytes:
    """Return the bytes of a block of these four sections; a block too large for readers is a ValueError."""
    size = sum(map(len, sections))
    if size > layout.max_block_bytes:
        raise ValueError(
            f"a block of {size} bytes, but readers stop at {layout.max_block_bytes}; split its values"
        )
    return _joined(layout, count, map(layout.codec.compress, sections))


def encode_copy(layout: Layout, keys: Sequence[bytes], block: StoredBlock) -> bytes:
    """Return the bytes of a block of these keys and of the values of another block of the same codec."""
    sections = zip(layout.key.pack(keys), block.key_sections, block.key_streams, strict=True)
    # Lengths are mostly the same as before, and keys often are: then they are not compressed again.
    streams = [stored if new == old else layout.codec.compress(new) for new, old, stored in sections]
    return _joined(layout, len(keys), (*streams, *block.value_streams))


def _joined(layout: Layout, count: int, streams: Iterable[bytes]) -> bytes:
    joined = [layout.marker, encode_vint(count)]
    for stream in streams:
        joined += (encode_vint(len(stream)), stream)
    return b"".join(joined)


def read_blocks(layout: Layout, window: Window, position: int, stop: int) -> Iterator[Block]:
    """Yield the blocks that begin in [position, stop); a block of very many records comes in slices."""
    return starmap(Block, _read(layout, window, position, stop, Column.take))


def read_sought(layout: Layout, window: Window, position: int, stop: int) -> Iterator[Block | SoughtBlock]:
    """Yield the blocks that begin in [position, stop), to look up keys in them."""
    while position < min(stop, window.size):
        offset = position
        count, streams, position = _read_streams(layout, window, offset)
        if 0 < count <= _SLICE:
            yield SoughtBlock(layout, count, streams, (window.name, offset))
        else:
            yield from read_blocks(layout, window, offset, offset + 1)


def read_strings(layout: Layout, window: Window, position: int, stop: int) -> Iterator[StringBlock]:
    """Yield the same records in numpy arrays."""
    return starmap(StringBlock, _read(layout, window, position, stop, Column.take_strings))


def _read(
    layout: Layout, window: Window, position: int, stop: int, take: Callable[[Column, int], _Payloads]
) -> Iterator[tuple[int, _Payloads, _Payloads]]:
    while position < min(stop, window.size):
        offset = position
        count, sections, position = _read_sections(layout, window, offset)
        keys = Column(layout.key, sections[0], sections[1])
        values = Column(layout.value, sections[2], sections[3])
        del sections
        try:
            for done in range(0, count, _SLICE):
                size = min(_SLICE, count - done)
                yield offset, take(keys, size), take(values, size)
            keys.finish()
            values.finish()
            del keys, values  # before the next block is inflated
        except ValueError as err:
            raise CorruptFile(window.name, offset, str(err)) from err


def read_stored_blocks(layout: Layout, window: Window, position: int, stop: int) -> Iterator[StoredBlock]:
    """Yield the blocks that begin in [position, stop), with their values still compressed."""
    while position < min(stop, window.size):
        offset = position
        count, streams, position = _read_streams(layout, window, offset)
        try:
            lengths, body = (layout.codec.decompress(some, layout.max_block_bytes) for some in streams[:2])
            column = Column(layout.key, lengths, body)
            keys = column.take(min(count, len(lengths)))
            column.finish()
        except ValueError as err:
            raise CorruptFile(window.name, offset, str(err)) from err
        if len(keys) != count:
            raise CorruptFile(window.name, offset, f"{count} records announced, {len(keys)} keys")
        stored = (streams[0], streams[1]), (streams[2], streams[3])
        yield StoredBlock(offset, keys, (lengths, body), *stored, layout, window.name)


def _read_streams(layout: Layout, window: Window, offset: int) -> tuple[int, list[bytes], int]:
    """Return the number of records, the four compressed sections, and the offset behind the block."""
    count, position = _read_count(layout, window, offset)
    streams = []
    for name in _SECTIONS:
        length, position = _read_length(layout, window, position, name)
        streams.append(bytes(window.take(position, length)))
        position += length
    return count, streams, position


def _read_count(layout: Layout, window: Window, offset: int) -> tuple[int, int]:
    if window.take(offset, len(layout.marker)) != layout.marker:
        raise CorruptFile(window.name, offset, "no sync marker where a block should begin")
    return read_vint(window, offset + len(layout.marker))


def _read_length(layout: Layout, window: Window, start: int, name: str) -> tuple[int, int]:
    length, position = read_vint(window, start)
    if not 0 <= length <= layout.max_stored_bytes:
        reason = f"{name} of {length} bytes; the limit is {layout.max_stored_bytes}"
        raise CorruptFile(window.name, start, reason)
    return length, position


def _read_sections(layout: Layout, window: Window, offset: int) -> tuple[int, list[bytes], int]:
    """Return the number of records, the four inflated sections, and the offset behind the block."""
    count, position = _read_count(layout, window, offset)
    left = layout.max_block_bytes
    sections = []
    for name in _SECTIONS:
        start = position
        length, position = _read_length(layout, window, start, name)
        try:
            section = layout.codec.decompress(window.take(position, length), left)
        except ValueError as err:
            raise CorruptFile(window.name, start, f"{name}: {err}") from err
        left -= len(section)
        position += length
        sections.append(section)
    if not 0 <= count <= len(sections[0]):
        raise CorruptFile(
            window.name, offset, f"{count} records announced, {len(sections[0])} bytes of key lengths"
        )
    return count, sections, position
