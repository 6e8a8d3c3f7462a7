"""The frame of word tables and title tables: a head with the lengths of blocks, a checksum, the blocks.

    length of the head (4 bytes, little-endian)
    head: MessagePack [version, CRC-32 of the rest, number of entries, [length of each block, …]]
    the blocks, one after the other

A block has either lines, compressed with raw deflate, or numbers (little-endian).
"""

from __future__ import annotations

import sys
from array import array
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec
from isal import isal_zlib

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.manifest import Count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_VERSION = 1
_HEAD_BYTES = 4
RAW_DEFLATE_BITS = -15
_LEVEL = 2


class _Head(msgspec.Struct, frozen=True, array_like=True):
    version: int
    checksum: int
    entries: Count
    blocks: tuple[Count, ...]


_encode = msgspec.msgpack.Encoder().encode
_decode_head = msgspec.msgpack.Decoder(_Head).decode


def join_blocks(entries: int, blocks: Sequence[bytes]) -> bytes:
    """Return the bytes of a table with these blocks."""
    body = b"".join(blocks)
    head = _encode(_Head(_VERSION, crc32(body), entries, tuple(map(len, blocks))))
    return len(head).to_bytes(_HEAD_BYTES, "little") + head + body


def split_blocks(data: bytes, count: int, name: str) -> tuple[int, list[bytes]]:
    """Return the number of entries of a table and its `count` blocks; damage is a CorruptFile."""
    end = _HEAD_BYTES + int.from_bytes(data[:_HEAD_BYTES], "little")
    try:
        head = _decode_head(data[_HEAD_BYTES:end])
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, 0, f"not a table of words or titles ({err})") from err
    body = data[end:]
    fits = len(head.blocks) == count and sum(head.blocks) == len(body)
    if head.version != _VERSION or not fits or crc32(body) != head.checksum:
        raise CorruptFile(name, end, "the table does not fit its checksum")
    return head.entries, [body[start:stop] for start, stop in pairwise(accumulate(head.blocks, initial=0))]


def lines_block(lines: Iterable[str]) -> bytes:
    """Return the block of some lines; no line may contain a line break."""
    data = "\n".join(lines).encode("utf-8", "replace")
    packed: bytes = isal_zlib.compress(data, _LEVEL, RAW_DEFLATE_BITS)
    return packed


def numbers_block(code: str, numbers: Iterable[int]) -> bytes:
    """Return the block of some numbers; `code` is a type code of the module `array`."""
    held = array(code, numbers)
    if sys.byteorder == "big":
        held.byteswap()
    return held.tobytes()


def numbers_in(code: str, block: bytes, count: int, name: str) -> array[int]:
    """Return the numbers of a block."""
    numbers = array(code)
    if len(block) != count * numbers.itemsize:
        raise CorruptFile(name, 0, f"it has {len(block)} bytes where {count} numbers should be")
    numbers.frombytes(block)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
