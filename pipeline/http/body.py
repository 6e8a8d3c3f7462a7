"""The body of one answer as it comes in, whatever the pieces are like."""

from __future__ import annotations

# A server that sends byte by byte costs us a call of Python for each, half a microsecond and more with TLS.
MANY_PIECES = 100_000
_SMALL_PIECE = 64  # bytes on average
_LOOSE_PIECES = 256
_PIECE_OVERHEAD = 41  # bytes of memory beside its own: the object, and its place in a list


class Body:
    """Collects pieces: a few as they are, more in one buffer that grows."""

    __slots__ = ("_buffer", "_loose", "_packed", "is_crumbled", "size")

    def __init__(self) -> None:
        self.size = 0
        # Whether the pieces are so many and so small that they cost more than the page can be worth.
        self.is_crumbled = False
        self._loose: list[bytes] = []
        self._buffer = bytearray()
        self._packed = 0

    @property
    def pieces(self) -> int:
        """How many pieces there were."""
        return self._packed + len(self._loose)

    def append(self, piece: bytes) -> None:
        """Take a piece."""
        self.size += len(piece)
        self._loose.append(piece)
        if len(self._loose) >= _LOOSE_PIECES:
            self._pack()

    def _pack(self) -> None:
        self._buffer += b"".join(self._loose)
        self._packed += len(self._loose)
        self._loose.clear()
        self.is_crumbled = self._packed > MANY_PIECES and self.size < self._packed * _SMALL_PIECE

    def content(self) -> bytes:
        """Return the whole."""
        if not self._buffer:
            return self._loose[0] if len(self._loose) == 1 else b"".join(self._loose)
        self._pack()
        return bytes(self._buffer)


def body_cost(size: int) -> int:
    """Return how many bytes of memory a body of so many takes at most; a buffer has an eighth to spare."""
    return size + (size >> 3) + _LOOSE_PIECES * _PIECE_OVERHEAD
