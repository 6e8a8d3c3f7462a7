"""The body of one answer as it comes in, whatever the pieces are like."""

from __future__ import annotations

# A server that sends byte by byte costs us a call of Python for each, some 0.6 µs and four times that in TLS.
MANY_PIECES = 100_000
_SMALL_PIECE = 64  # bytes on average


class Body:
    """Collects pieces: the only one as it is, several in one buffer that grows."""

    __slots__ = ("_buffer", "_only", "pieces", "size")

    def __init__(self) -> None:
        self.size = 0
        self.pieces = 0
        self._only = b""
        self._buffer: bytearray | None = None

    def append(self, piece: bytes) -> None:
        """Take a piece."""
        self.size += len(piece)
        self.pieces += 1
        if self._buffer is not None:
            self._buffer += piece
        elif self._only:
            self._buffer = bytearray(self._only)
            self._buffer += piece
            self._only = b""
        else:
            self._only = piece

    def cost_of(self, more: int) -> int:
        """Return how many bytes of memory the body takes once it is longer; buffers keep an eighth spare."""
        size = self.size + more
        return size + (size >> 3) if self.size else size

    @property
    def is_crumbled(self) -> bool:
        """Whether the pieces are so many and so small that they cost more than the page can be worth."""
        return self.pieces > MANY_PIECES and self.size < self.pieces * _SMALL_PIECE

    def content(self) -> bytes:
        """Return the whole."""
        return self._only if self._buffer is None else bytes(self._buffer)
