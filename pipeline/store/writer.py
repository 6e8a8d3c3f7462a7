"""The file object a new file is written through."""

from __future__ import annotations

import io
from abc import abstractmethod
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Chunk = bytes  # StoreWriter.bytes is a count
MAX_PIECES = 1 << 12  # that wait for their chunk to be full: objects cost more than the bytes of tiny ones


class StoreWriter(io.RawIOBase, BinaryIO):
    """A binary file, write-only and append-only, that counts and hashes what passes.

    It holds at most one chunk in memory. Closing it publishes nothing: the file exists once the `with` of
    Store.write() is left without an exception, so a library that closes its sink cannot publish a torn file.
    """

    def __init__(self, name: str, chunk_bytes: int) -> None:
        import hashlib  # OpenSSL, which reading does without

        self.bytes = 0
        self.chunk_bytes = chunk_bytes
        self._name = name
        self._joined: list[Chunk] = []
        self._pieces: list[Chunk] = []  # behind the joined ones
        self._held = 0
        self._digest = hashlib.sha256()
        self._committed = False

    @property
    def name(self) -> str:
        """The name of the file in its store."""
        return self._name

    @property
    def mode(self) -> str:
        """How the file is open."""
        return "wb"

    @property
    def checksum(self) -> str:
        """The SHA-256 of the file in hex, known once it is written."""
        if not self._committed:
            raise ValueError(f"{self._name} is not written yet; ask after the end of its with block")
        return self._digest.hexdigest()

    def writable(self) -> bool:
        """Tell that the file takes bytes."""
        return True

    def tell(self) -> int:
        """Return the number of bytes written so far."""
        return self.bytes

    def write(self, data: ReadableBuffer, /) -> int:
        """Take all of the data, and pass full chunks on to the store."""
        if self.closed:
            raise ValueError(f"{self._name} is closed")
        with memoryview(data) as view, view.cast("B") as octets:
            size, taken = len(octets), 0
            while self._held + size - taken >= self.chunk_bytes:
                stop = taken + self.chunk_bytes - self._held
                self._send(self._take(octets[taken:stop]))
                taken = stop
            if taken < size:
                # What cannot change is held as it is, and copied once, into its chunk.
                self._hold(data if type(data) is bytes and not taken else bytes(octets[taken:]))
        self.bytes += size
        return size

    def commit(self) -> None:
        """Pass on what is left and make the file exist; Store.write() calls it."""
        self._finish(self._take())
        self._committed = True
        self.close()

    def _hold(self, piece: Chunk) -> None:
        self._pieces.append(piece)
        self._held += len(piece)
        if len(self._pieces) >= MAX_PIECES:
            self._joined.append(b"".join(self._pieces))
            self._pieces.clear()

    def _take(self, last: Chunk | memoryview = b"") -> Chunk:
        chunk = b"".join((*self._joined, *self._pieces, last))
        self._joined.clear()
        self._pieces.clear()
        self._held = 0
        self._digest.update(chunk)
        return chunk

    @abstractmethod
    def _send(self, chunk: Chunk) -> None:
        """Append a full chunk to the unfinished file."""

    @abstractmethod
    def _finish(self, last: Chunk) -> None:
        """Append the rest, durably, and let the file exist under its name."""

    @abstractmethod
    def discard(self) -> None:
        """Remove the unfinished file as far as that is possible; raise nothing."""
