"""Hadoop's variable-length integers (WritableUtils).

An integer is one byte from -112 to 127, or a tag and up to eight bytes. The tag gives sign and width. For a
positive number it is 0x8F for one byte, 0x8E for two bytes, down to 0x88 for eight. For a negative number,
whose complement is stored, it is 0x87 for one byte, down to 0x80 for eight. A block has thousands of lengths,
so `Lengths` decodes many at a time.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from crawlctl.pipeline.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from crawlctl.pipeline.formats.window import Window

MAX_VINT_BYTES = 9
MAX_LENGTH = 0x7FFFFFFF  # lengths are Java ints

_Lengths = TypeVar("_Lengths", bytes, list[int])

_SMALLEST_SINGLE = -112
_TWO_BYTES_FOLLOW = 0x8E
_ONE_BYTE_FOLLOWS = 0x8F
_WIDEST_LENGTH = 0x8C  # four bytes follow


def encode_vint(value: int) -> bytes:
    """Return the shortest encoding, the only one Hadoop writes."""
    if _SMALLEST_SINGLE <= value < 128:
        return bytes((value & 0xFF,))
    tag, magnitude = (0x90, value) if value >= 0 else (0x88, ~value)
    width = (magnitude.bit_length() + 7) // 8
    return bytes((tag - width,)) + magnitude.to_bytes(width, "big")


def decode_vint(data: bytes | memoryview, offset: int = 0) -> tuple[int, int]:
    """Return the number at `offset` and the offset behind it."""
    if offset >= len(data):
        raise ValueError("a number is cut off")
    tag = data[offset]
    if tag < 0x80 or tag >= 0x90:
        return (tag if tag < 0x80 else tag - 0x100), offset + 1
    width = (0x90 if tag >= 0x88 else 0x88) - tag
    end = offset + 1 + width
    if end > len(data):
        raise ValueError("a number is cut off")
    magnitude = int.from_bytes(data[offset + 1 : end], "big")
    return (magnitude if tag >= 0x88 else ~magnitude), end


def read_vint(window: Window, start: int) -> tuple[int, int]:
    """Return the number at the offset `start` of a file and the offset behind it."""
    data = window.take(start, min(MAX_VINT_BYTES, max(1, window.size - start)))
    try:
        value, width = decode_vint(data)
    except ValueError as err:
        raise CorruptFile(window.name, start, str(err)) from err
    return value, start + width


class Lengths:
    """The lengths of the records of a block, decoded some at a time; an impossible length is a ValueError."""

    def __init__(self, data: bytes) -> None:
        self._single = data.isascii()  # then each length is one byte, and `_at` the index of the next
        self._data = data
        self._at = 0
        self._bytes = iter(data)

    def take(self, count: int) -> list[int]:
        """Return the next `count` lengths."""
        return list(self._take_single(count)) if self._single else self._take_any(count)

    def take_array(self, count: int) -> NDArray[np.int64]:
        """Return the next `count` lengths as an array."""
        import numpy as np

        if not self._single:
            return np.array(self._take_any(count), np.int64)
        return np.frombuffer(self._take_single(count), np.uint8).astype(np.int64)

    def finish(self) -> None:
        """Raise a ValueError unless every length has been taken."""
        if self._at < len(self._data) if self._single else next(self._bytes, None) is not None:
            raise ValueError("more lengths than records")

    def _take_single(self, count: int) -> bytes:
        lengths = self._data[self._at : self._at + count]
        self._at += len(lengths)
        return _as_many(lengths, count)

    def _take_any(self, count: int) -> list[int]:
        source = self._bytes
        try:
            # Nested reads advance the iterator under islice, which counts numbers, not bytes.
            lengths = [
                first
                if first < 0x80
                else next(source)
                if first == _ONE_BYTE_FOLLOWS
                else next(source) << 8 | next(source)
                if first == _TWO_BYTES_FOLLOW
                else _rare_length(first, source)
                for first in islice(source, count)
            ]
        except StopIteration:
            raise ValueError("a length is cut off") from None
        return _as_many(lengths, count)


def _as_many(lengths: _Lengths, count: int) -> _Lengths:
    if len(lengths) < count:
        raise ValueError("fewer lengths than records")
    return lengths


def _rare_length(tag: int, source: Iterator[int]) -> int:
    if not _WIDEST_LENGTH <= tag < _TWO_BYTES_FOLLOW:
        raise ValueError("a length is negative or wider than four bytes")
    length = 0
    for _ in range(0x90 - tag):
        length = length << 8 | next(source)
    if length > MAX_LENGTH:
        raise ValueError(f"a length of {length} bytes")
    return length
