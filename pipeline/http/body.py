"""Collects the body of one answer while libcurl delivers it."""

from __future__ import annotations

# libcurl calls Python once per write. A server that sends single bytes costs half a microsecond for each of
# them, and more with TLS.
MANY_WRITES = 100_000
_SMALL_WRITE = 64  # bytes on average
_LOOSE_WRITES = 256
_WRITE_OVERHEAD = 41  # bytes of memory per write beside its content: the object and its slot in a list


class Body:
    """The bytes received so far: up to 256 writes in a list, all earlier ones joined in one buffer."""

    __slots__ = ("_buffer", "_loose", "_packed", "is_crumbled", "size")

    def __init__(self) -> None:
        self.size = 0
        # True when the writes are so many and so small that they cost more CPU than a page is worth.
        self.is_crumbled = False
        self._loose: list[bytes] = []
        self._buffer = bytearray()
        self._packed = 0  # writes that are in the buffer

    @property
    def writes(self) -> int:
        """The number of writes so far."""
        return self._packed + len(self._loose)

    def append(self, data: bytes) -> None:
        """Add the bytes of one write."""
        self.size += len(data)
        self._loose.append(data)
        if len(self._loose) >= _LOOSE_WRITES:
            self._pack()

    def _pack(self) -> None:
        self._buffer += b"".join(self._loose)
        self._packed += len(self._loose)
        self._loose.clear()
        self.is_crumbled = self._packed > MANY_WRITES and self.size < self._packed * _SMALL_WRITE

    def start(self, length: int) -> bytes:
        """Return the first `length` bytes, fewer if not as many have arrived."""
        return bytes(self._buffer[:length]) if self._buffer else b"".join(self._loose)[:length]

    def content(self) -> bytes:
        """Return the whole body."""
        if not self._buffer:
            return self._loose[0] if len(self._loose) == 1 else b"".join(self._loose)
        self._pack()
        return bytes(self._buffer)


def body_cost(size: int) -> int:
    """Return the memory that a body of `size` bytes takes at most; a bytearray over-allocates by 1/8."""
    return size + (size >> 3) + _LOOSE_WRITES * _WRITE_OVERHEAD
