"""The body of a block-compressed SequenceFile.

    block = escape, sync, count, key lengths, keys, value lengths, values

Each of the four parts is a compressed stream behind its length; numbers are variable-length integers.
"""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.codecs import Codec, codec_of_class
from crawlctl.pipeline.formats.sequencefile.header import ESCAPE
from crawlctl.pipeline.formats.sequencefile.vint import encode_vint
from crawlctl.pipeline.formats.sequencefile.writables import Column, Writable, writable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.formats.sequencefile.header import Header
    from crawlctl.pipeline.formats.window import Window

MAX_BLOCK_BYTES = 64 << 20

_Payloads = TypeVar("_Payloads")

_PARTS = ("key lengths", "keys", "value lengths", "values")
_STRETCH = 1 << 14  # records handed out at once, so that a block of millions of empty ones stays cheap


class Block(NamedTuple):
    """Records that lie together; `offset` is where the file stores the first of them."""

    offset: int
    keys: list[bytes]
    values: list[bytes]

    def part(self, start: int, stop: int) -> Block:
        """Return the records from one place on and below another."""
        return Block(self.offset, self.keys[start:stop], self.values[start:stop])


class StringBlock(NamedTuple):
    """The same as numpy holds them."""

    offset: int
    keys: ByteStrings
    values: ByteStrings

    def part(self, start: int, stop: int) -> StringBlock:
        """Return the records from one place on and below another."""
        return StringBlock(self.offset, self.keys.part(start, stop), self.values.part(start, stop))


class StoredBlock(NamedTuple):
    """A block whose values are still as the file stores them, to be copied or to be unpacked."""

    offset: int
    keys: list[bytes]
    key_parts: tuple[bytes, bytes]  # lengths and keys, inflated
    key_streams: tuple[bytes, bytes]  # the same as they are stored
    value_streams: tuple[bytes, bytes]
    layout: Layout
    name: str

    def values(self) -> list[bytes]:
        """Return the values."""
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
        """Return what a block of the largest size may take in the file: random bytes grow when compressed."""
        return self.max_block_bytes + self.max_block_bytes // 64 + 1024

    @classmethod
    def of(cls, header: Header, max_block_bytes: int) -> Layout:
        """Return the layout a header describes; a codec that we lack is a ValueError."""
        return cls(
            writable(header.key_class),
            writable(header.value_class),
            codec_of_class(header.codec),
            ESCAPE + header.sync,
            max_block_bytes,
        )


def encode_block(layout: Layout, keys: Sequence[bytes], values: Sequence[bytes]) -> bytes:
    """Return the block of these records; one that readers would refuse is a ValueError."""
    return encode_parts(layout, len(keys), layout.key.pack(keys) + layout.value.pack(values))


def encode_parts(layout: Layout, count: int, parts: tuple[bytes, ...]) -> bytes:
    """Return the block that has these four parts; one that readers would refuse is a ValueError."""
    size = sum(map(len, parts))
    if size > layout.max_block_bytes:
        raise ValueError(
            f"a block of {size} bytes, but readers stop at {layout.max_block_bytes}; split its values"
        )
    return _joined(layout, count, map(layout.codec.compress, parts))


def encode_copy(layout: Layout, keys: Sequence[bytes], block: StoredBlock) -> bytes:
    """Return the block of these keys and of the values of another block, of the same codec."""
    parts = zip(layout.key.pack(keys), block.key_parts, block.key_streams, strict=True)
    # Most keys are as many as before, and many the same: what is compressed already need not be again.
    streams = [stored if part == held else layout.codec.compress(part) for part, held, stored in parts]
    return _joined(layout, len(keys), (*streams, *block.value_streams))


def _joined(layout: Layout, count: int, streams: Iterable[bytes]) -> bytes:
    pieces = [layout.marker, encode_vint(count)]
    for stream in streams:
        pieces += (encode_vint(len(stream)), stream)
    return b"".join(pieces)


def read_blocks(layout: Layout, window: Window, position: int, stop: int) -> Iterator[Block]:
    """Yield the blocks that begin in [position, stop); a very long one comes in stretches."""
    return starmap(Block, _read(layout, window, position, stop, Column.take))


def read_strings(layout: Layout, window: Window, position: int, stop: int) -> Iterator[StringBlock]:
    """Yield the same as numpy holds them."""
    return starmap(StringBlock, _read(layout, window, position, stop, Column.take_strings))


def _read(
    layout: Layout, window: Window, position: int, stop: int, take: Callable[[Column, int], _Payloads]
) -> Iterator[tuple[int, _Payloads, _Payloads]]:
    while position < min(stop, window.size):
        offset = position
        count, parts, position = _read_parts(layout, window, offset)
        keys = Column(layout.key, parts[0], parts[1])
        values = Column(layout.value, parts[2], parts[3])
        del parts
        try:
            for done in range(0, count, _STRETCH):
                stretch = min(_STRETCH, count - done)
                yield offset, take(keys, stretch), take(values, stretch)
            keys.finish()
            values.finish()
            del keys, values  # before the next block is inflated
        except ValueError as err:
            raise CorruptFile(window.name, offset, str(err)) from err


def read_stored_blocks(layout: Layout, window: Window, position: int, stop: int) -> Iterator[StoredBlock]:
    """Yield the blocks that begin in [position, stop), of which only the keys are unpacked."""
    while position < min(stop, window.size):
        offset = position
        count, streams, position = _read_streams(layout, window, offset)
        try:
            lengths, body = (layout.codec.decompress(part, layout.max_block_bytes) for part in streams[:2])
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
    """Return the number of records, the four parts as they are stored, and the offset behind the block."""
    count, position = _read_count(layout, window, offset)
    streams = []
    for name in _PARTS:
        length, position = _read_length(layout, window, position, name)
        streams.append(bytes(window.take(position, length)))
        position += length
    return count, streams, position


def _read_count(layout: Layout, window: Window, offset: int) -> tuple[int, int]:
    if window.take(offset, len(layout.marker)) != layout.marker:
        raise CorruptFile(window.name, offset, "no sync marker where a block should begin")
    return window.vint(offset + len(layout.marker))


def _read_length(layout: Layout, window: Window, start: int, name: str) -> tuple[int, int]:
    length, position = window.vint(start)
    if not 0 <= length <= layout.max_stored_bytes:
        reason = f"{name} of {length} bytes; the limit is {layout.max_stored_bytes}"
        raise CorruptFile(window.name, start, reason)
    return length, position


def _read_parts(layout: Layout, window: Window, offset: int) -> tuple[int, list[bytes], int]:
    """Return the number of records, the four inflated parts, and the offset behind the block."""
    count, position = _read_count(layout, window, offset)
    left = layout.max_block_bytes
    parts = []
    for name in _PARTS:
        start = position
        length, position = _read_length(layout, window, start, name)
        try:
            part = layout.codec.decompress(window.take(position, length), left)
        except ValueError as err:
            raise CorruptFile(window.name, start, f"{name}: {err}") from err
        left -= len(part)
        position += length
        parts.append(part)
    if not 0 <= count <= len(parts[0]):
        raise CorruptFile(
            window.name, offset, f"{count} records announced, {len(parts[0])} bytes of key lengths"
        )
    return count, parts, position
