"""Hadoop's key and value classes (Writables): a payload, with or without a length before it.

Like Hadoop's own reader we take the bytes of a Text as they are, whether or not they are UTF-8.

A block holds thousands of small records, so whole columns are packed and unpacked by one `b"".join` or one
`struct.unpack` rather than record by record: about twice as fast as slicing in a loop, checks included.
Payloads in numpy arrays are packed and unpacked there, without becoming Python objects. numpy is imported
late, because a single query does not need it.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from struct import Struct
from typing import TYPE_CHECKING, Generic, TypeVar

from crawlctl.pipeline.formats.sequencefile.vint import MAX_LENGTH, Lengths, encode_vint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings

TEXT = "org.apache.hadoop.io.Text"
BYTES = "org.apache.hadoop.io.BytesWritable"
LONG = "org.apache.hadoop.io.LongWritable"
NULL = "org.apache.hadoop.io.NullWritable"

_REMEMBERED_LENGTHS = 4096
_NUMBER = 8  # bytes of a small number in a list
_PREFIX = 9  # the most bytes before a payload
_INT = Struct(">i")
_LONG = Struct(">q")
_T = TypeVar("_T")


def pack_long(value: int) -> bytes:
    """Return the payload of a LongWritable."""
    return _LONG.pack(value)


def unpack_long(payload: bytes) -> int:
    """Return the number in the payload of a LongWritable."""
    value: int = _LONG.unpack(payload)[0]
    return value


class _ByLength(dict[int, _T], Generic[_T]):
    """A function of a length that remembers its results for short lengths."""

    def __init__(self, answer: Callable[[int], _T]) -> None:
        super().__init__()
        self._answer = answer

    def __missing__(self, length: int) -> _T:
        found = self._answer(length)
        if length < _REMEMBERED_LENGTHS:
            self[length] = found
        return found


class Writable:
    """One class of keys or values; bytes that break its form are a ValueError.

    `prefix` returns the bytes before a payload of a given length, or raises for a length that the class
    cannot have. `widths` are the lengths that a prefix can have. `size` is the length of all payloads, 0 if
    it varies.
    """

    def __init__(
        self, name: str, prefix: Callable[[int], bytes], widths: Sequence[int], size: int = 0
    ) -> None:
        self.name = name
        self._size = size
        self._widths = widths
        # The first two functions take the length of a payload, the others take its length with the prefix.
        self._prefix = _ByLength(lambda length: prefix(_bounded(length)))
        self._stored_length = _ByLength(lambda length: encode_vint(len(self._prefix[length]) + length))
        self._stored_prefix = _ByLength(self._find_prefix)
        self._format = _ByLength(self._find_format)

    def encode(self, payload: bytes) -> bytes:
        """Return one payload with its prefix."""
        return self._prefix[len(payload)] + payload

    def decode(self, stored: bytes) -> bytes:
        """Return the payload of one stored key or value."""
        prefix = self._stored_prefix[len(stored)]
        if not stored.startswith(prefix):
            raise ValueError(f"a {self.name} disagrees with its record about its length")
        return stored[len(prefix) :]

    def pack(self, payloads: Sequence[bytes]) -> tuple[bytes, bytes]:
        """Return the two sections of a block with these payloads: their stored lengths, and their bytes."""
        lengths = list(map(len, payloads))
        body = [b""] * (2 * len(lengths))
        body[::2] = map(self._prefix.__getitem__, lengths)
        body[1::2] = payloads
        return b"".join(map(self._stored_length.__getitem__, lengths)), b"".join(body)

    def prefix(self, length: int) -> bytes:
        """Return the bytes before a payload of this length."""
        return self._prefix[length]

    def stored_length(self, length: int) -> bytes:
        """Return the length of a payload with its prefix, encoded as in the lengths of a block."""
        return self._stored_length[length]

    def unpack(self, body: bytes, offset: int, lengths: Sequence[int]) -> list[bytes]:
        """Return the payloads of these stored lengths, which lie one after the other from `offset` on."""
        if self._size and lengths.count(self._size) == len(lengths):
            ends = range(offset + self._size, offset + self._size * len(lengths) + 1, self._size)
            return [body[end - self._size : end] for end in ends]
        layout = Struct("".join(map(self._format.__getitem__, lengths)))
        fields = layout.unpack_from(body, offset)
        if fields[::2] != tuple(map(self._stored_prefix.__getitem__, lengths)):
            raise ValueError(f"a {self.name} disagrees with its block about its length")
        return list(fields[1::2])

    def unpack_strings(self, body: bytes, offset: int, lengths: NDArray[np.int64]) -> ByteStrings:
        """Return the same payloads as `unpack`, as views into `body`."""
        import numpy as np

        from crawlctl.pipeline.arrays.byte_strings import ByteStrings, strings_of
        from crawlctl.pipeline.arrays.ragged import starts_of

        if not len(lengths):
            return strings_of([])
        shortest, longest = int(lengths.min()), int(lengths.max())
        if len(self._stored_prefix[shortest]) != len(self._stored_prefix[longest]):
            return strings_of(self.unpack(body, offset, lengths.tolist()))
        prefixes = _encoded_lengths(self._stored_prefix[shortest], lengths - shortest)
        width = prefixes.shape[1]
        octets, starts = np.frombuffer(body, np.uint8), starts_of(lengths) + (offset + width)
        for column in range(width):
            if (octets[starts + (column - width)] != prefixes[:, column]).any():
                raise ValueError(f"a {self.name} disagrees with its block about its length")
        return ByteStrings(octets, starts, lengths - width)

    def _find_prefix(self, stored: int) -> bytes:
        for width in self._widths:
            if stored >= width and len(prefix := self._prefix[stored - width]) == width:
                return prefix
        raise ValueError(f"{stored} bytes cannot be a {self.name}")

    def _find_format(self, stored: int) -> str:
        width = len(self._stored_prefix[stored])
        return f"{width}s{stored - width}s"


class PackedStrings:
    """Payloads packed as a block holds them, all at once, so that any slice is one copy of bytes.

    Payloads whose prefixes differ in width cannot be laid out in numpy; they are packed slice by slice.
    """

    def __init__(self, writable: Writable, payloads: ByteStrings) -> None:
        self._writable, self._payloads = writable, payloads
        shortest, longest = int(payloads.lengths.min()), int(payloads.lengths.max())
        first = writable.prefix(shortest)
        width = self._width = len(first)
        self._is_even = len(writable.prefix(longest)) == width
        if self._is_even:
            self._octets, self._starts = payloads.laid_out(before=width)
            prefixes = _encoded_lengths(first, payloads.lengths - shortest)
            for column in range(width):
                self._octets[self._starts + (column - width)] = prefixes[:, column]
        first = writable.stored_length(shortest)
        even = len(first) == len(writable.stored_length(longest))
        self._lengths = _encoded_lengths(first, payloads.lengths - shortest) if even else None

    def sections(self, start: int, stop: int) -> tuple[bytes, bytes]:
        """Return the stored lengths and the bytes of the payloads [start, stop)."""
        if not self._is_even:
            return self._writable.pack(self._payloads.between(start, stop).tolist())
        begin = int(self._starts[start]) - self._width
        end = int(self._starts[stop - 1] + self._payloads.lengths[stop - 1])
        return self._stored_lengths(start, stop), self._octets[begin:end].tobytes()

    def _stored_lengths(self, start: int, stop: int) -> bytes:
        if self._lengths is not None:
            return self._lengths[start:stop].tobytes()
        return b"".join(map(self._writable.stored_length, self._payloads.lengths[start:stop].tolist()))


class Column:
    """The keys or the values of a block, read some at a time from its two sections."""

    def __init__(self, writable: Writable, lengths: bytes, body: bytes) -> None:
        self._writable = writable
        self._lengths = Lengths(lengths)
        self._body = body
        self._offset = 0

    def take(self, count: int) -> list[bytes]:
        """Return the next `count` payloads."""
        lengths = self._lengths.take(count)
        return self._writable.unpack(self._body, self._advance(sum(lengths)), lengths)

    def take_strings(self, count: int) -> ByteStrings:
        """Return the next `count` payloads as views into the block."""
        lengths = self._lengths.take_array(count)
        return self._writable.unpack_strings(self._body, self._advance(int(lengths.sum())), lengths)

    def _advance(self, size: int) -> int:
        """Advance by `size` bytes; return the offset before."""
        start = self._offset
        if start + size > len(self._body):
            raise ValueError("records reach past the end of their block")
        self._offset += size
        return start

    def finish(self) -> None:
        """Raise a ValueError if lengths or bytes are left over."""
        self._lengths.finish()
        if self._offset != len(self._body):
            raise ValueError("a block holds bytes that belong to no record")


class Cells:
    """The keys or the values of a block; each is cut out of the bytes only when it is asked for."""

    def __init__(self, writable: Writable, lengths: bytes, body: bytes, count: int) -> None:
        stored = Lengths(lengths)
        self._lengths = stored.take(count)
        stored.finish()
        if sum(self._lengths) != len(body):
            raise ValueError("the records of a block do not fill it")
        self._writable = writable
        self._body = body

    @property
    def size(self) -> int:
        """About how many bytes of memory they take."""
        return len(self._body) + _NUMBER * len(self._lengths)

    def __getitem__(self, row: int) -> bytes:
        start = sum(self._lengths[:row])
        return self._writable.decode(self._body[start : start + self._lengths[row]])

    def row_of(self, payload: bytes) -> int:
        """Return the row of a payload, -1 without it; `bytes.find` looks for it in C."""
        return self._row_from(payload, 0, len(self._body))

    def rows_of(self, payloads: Sequence[bytes]) -> list[int]:
        """Return the row of each of some rising payloads, -1 without it; fast if all of them begin alike.

        All payloads lie between the first and the last place at which their common beginning stands.
        """
        beginning = _common_beginning(payloads[0], payloads[-1])
        first = self._body.find(beginning)
        if first < 0:
            return [-1] * len(payloads)
        last = self._body.rfind(beginning)
        return [self._row_from(one, max(0, first - _PREFIX), last + len(one)) for one in payloads]

    def _row_from(self, payload: bytes, start: int, end: int) -> int:
        """Return the row of a payload in a range of the bytes, -1 without it."""
        stored = self._writable.encode(payload)
        if not stored:
            return self._lengths.index(0) if 0 in self._lengths else -1
        at = self._body.find(stored, start, end)
        if at < 0:
            return -1
        # These bytes may be a part of another payload. To search on behind them could take hours if a
        # stranger has made the block: so the rows from there on are compared.
        starts = list(accumulate(self._lengths, initial=0))
        for row in range(bisect_right(starts, at) - 1, len(self._lengths)):
            if self._lengths[row] == len(stored) and self._body.startswith(stored, starts[row]):
                return row
        return -1


def _common_beginning(one: bytes, other: bytes) -> bytes:
    same = 0
    while one[same : same + 1] == other[same : same + 1] != b"":
        same += 1
    return one[:same]


def _encoded_lengths(first: bytes, steps: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Encode the length `first + step` for every step, in the width of `first`: one row per step.

    Callers make sure that no step needs a wider encoding. Hadoop encodes a length as a big-endian number,
    with or without a tag before it. Either way the encoding of the next length is the next number.
    """
    from crawlctl.pipeline.arrays.byte_strings import big_endian

    return big_endian(int.from_bytes(first, "big") + steps, len(first))


def _bounded(length: int) -> int:
    if length > MAX_LENGTH:
        raise ValueError(f"{length} bytes are more than Hadoop can count")
    return length


def _fixed(name: str, size: int) -> Writable:
    def prefix(length: int) -> bytes:
        if length != size:
            raise ValueError(f"a {name} has {size} bytes, not {length}")
        return b""

    return Writable(name, prefix, (0,), size)


_KNOWN = {
    TEXT: Writable("Text", encode_vint, (1, 2, 3, 4, 5)),
    BYTES: Writable("BytesWritable", _INT.pack, (4,)),
    LONG: _fixed("LongWritable", 8),
    NULL: _fixed("NullWritable", 0),
}


def is_known(class_name: str) -> bool:
    """Return whether we know the prefix of this class; in other classes the stored bytes are the payload."""
    return class_name in _KNOWN


def writable(class_name: str) -> Writable:
    """Return the Writable of a Java class; an unknown class passes its stored bytes through unchanged."""
    return _KNOWN.get(class_name) or Writable(class_name, lambda _: b"", (0,))
