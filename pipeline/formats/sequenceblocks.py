"""The body of a block-compressed SequenceFile.

    block = escape, sync, count, key lengths, keys, value lengths, values

Each of the four parts is a compressed stream behind its length; numbers are variable-length integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.codecs import Codec, codec_of_class
from crawlctl.pipeline.formats.sequenceheader import ESCAPE
from crawlctl.pipeline.formats.vint import encode_vint
from crawlctl.pipeline.formats.writables import Column, Writable, writable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.formats.sequenceheader import Header
    from crawlctl.pipeline.formats.window import Window

MAX_BLOCK_BYTES = 64 << 20

_PARTS = ("key lengths", "keys", "value lengths", "values")
_STRETCH = 1 << 14  # records handed out at once, so that a block of millions of empty ones stays cheap


@dataclass(frozen=True)
class Block:
    """Records that lie together; `offset` is where the file stores the first of them."""

    offset: int
    keys: list[bytes]
    values: list[bytes]


@dataclass(frozen=True)
class Layout:
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
    parts = layout.key.pack(keys) + layout.value.pack(values)
    size = sum(map(len, parts))
    if size > layout.max_block_bytes:
        raise ValueError(
            f"a block of {size} bytes, but readers stop at {layout.max_block_bytes}; split its values"
        )
    pieces = [layout.marker, encode_vint(len(keys))]
    for stream in map(layout.codec.compress, parts):
        pieces += (encode_vint(len(stream)), stream)
    return b"".join(pieces)


def read_blocks(layout: Layout, window: Window, position: int, stop: int) -> Iterator[Block]:
    """Yield the blocks that begin in [position, stop); a very long one comes in stretches."""
    while position < min(stop, window.size):
        offset = position
        count, parts, position = _read_parts(layout, window, offset)
        keys = Column(layout.key, parts[0], parts[1])
        values = Column(layout.value, parts[2], parts[3])
        del parts
        try:
            for done in range(0, count, _STRETCH):
                stretch = min(_STRETCH, count - done)
                yield Block(offset, keys.take(stretch), values.take(stretch))
            keys.finish()
            values.finish()
            del keys, values  # before the next block is inflated
        except ValueError as err:
            raise CorruptFile(window.name, offset, str(err)) from err


def _read_parts(layout: Layout, window: Window, offset: int) -> tuple[int, list[bytes], int]:
    """Return the number of records, the four inflated parts, and the offset behind the block."""
    if window.take(offset, len(layout.marker)) != layout.marker:
        raise CorruptFile(window.name, offset, "no sync marker where a block should begin")
    count, position = window.vint(offset + len(layout.marker))
    left = layout.max_block_bytes
    parts = []
    for name in _PARTS:
        start = position
        length, position = window.vint(start)
        if not 0 <= length <= layout.max_stored_bytes:
            reason = f"{name} of {length} bytes; the limit is {layout.max_stored_bytes}"
            raise CorruptFile(window.name, start, reason)
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
