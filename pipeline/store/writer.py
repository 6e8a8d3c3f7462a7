"""The file object for writing a new file of a store."""

from __future__ import annotations

import io
from abc import abstractmethod
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Chunk = bytes  # StoreWriter.bytes is a count
MAX_BUFFERS = 1 << 12  # the most small writes that wait for a full chunk: each is a Python object


class StoreWriter(io.RawIOBase, BinaryIO):
    """A write-only, append-only binary file that counts and hashes its bytes, for one `with` block.

    It holds at most one chunk in memory. Closing it does not publish the file: the file exists only after the
    `with` block of Store.write() ends without an exception. So a library that closes the file object cannot
    publish an incomplete file.
    """

    def __init__(self, name: str, chunk_bytes: int) -> None:
        import hashlib  # it loads OpenSSL, which a process that only reads does not need

        self.bytes = 0
        self.chunk_bytes = chunk_bytes
        self._name = name
        self._joined: list[Chunk] = []
        self._buffers: list[Chunk] = []  # written after the joined ones
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
        """Take all of the data, and send full chunks to the store."""
        if self.closed:
            raise ValueError(f"{self._name} is closed")
        with memoryview(data) as view, view.cast("B") as octets:
            size, taken = len(octets), 0
            while self._held + size - taken >= self.chunk_bytes:
                stop = taken + self.chunk_bytes - self._held
                self._send(self._take(octets[taken:stop]))
                taken = stop
            if taken < size:
                # bytes cannot change, so they are kept as they are and copied once, into their chunk.
                self._hold(data if type(data) is bytes and not taken else bytes(octets[taken:]))
        self.bytes += size
        return size

    def commit(self) -> None:
        """Send the rest and make the file exist; only Store.write() calls this."""
        self._finish(self._take())
        self._committed = True
        self.close()

    def _hold(self, data: Chunk) -> None:
        self._buffers.append(data)
        self._held += len(data)
        if len(self._buffers) >= MAX_BUFFERS:
            self._joined.append(b"".join(self._buffers))
            self._buffers.clear()

    def _take(self, last: Chunk | memoryview = b"") -> Chunk:
        chunk = b"".join((*self._joined, *self._buffers, last))
        self._joined.clear()
        self._buffers.clear()
        self._held = 0
        self._digest.update(chunk)
        return chunk

    @abstractmethod
    def _send(self, chunk: Chunk) -> None:
        """Append a full chunk to the unfinished file."""

    @abstractmethod
    def _finish(self, last: Chunk) -> None:
        """Append the rest, durably, and make the file exist under its name."""

    @abstractmethod
    def discard(self) -> None:
        """Remove the unfinished file if possible; never raise."""
