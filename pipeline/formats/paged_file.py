"""Files in pages, each with its checksum, so that any range of bytes can be read and checked.

    page = up to `page_bytes` − 4 bytes, and their CRC-32 (4 bytes, little-endian)

All pages but the last are full, so the page of a byte follows from its offset. Reading a range is one ranged
read of the pages that contain it. Callers see offsets and sizes without the checksums.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Protocol

from isal.isal_zlib import crc32

from crawlctl.pipeline.errors import CorruptFile

if TYPE_CHECKING:
    from types import TracebackType

    from crawlctl.pipeline.formats.source import RangedSource

PAGE_BYTES = 4096  # the unit in which disks and the kernel read, so a small range costs no more reads
LARGE_PAGE_BYTES = 64 << 10  # the unit of files that are mostly read from end to end

_CHECKSUM = Struct("<I")


class Sink(Protocol):
    """A file that pages are written to."""

    def write(self, data: bytes, /) -> object:
        """Add bytes at the end."""


class PageWriter:
    """Writes pages to a sink, which it leaves open; `bytes` is the number written, without checksums."""

    def __init__(self, sink: Sink, page_bytes: int = PAGE_BYTES) -> None:
        self.bytes = 0
        self._sink = sink
        self._room = page_bytes - _CHECKSUM.size
        self._pending = b""

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes at the end."""
        view = memoryview(data).cast("B")
        self.bytes += len(view)
        start = 0
        if self._pending:
            start = self._room - len(self._pending)
            self._pending += view[:start]
            if len(self._pending) < self._room:
                return
            self._write(memoryview(self._pending))
        end = start + (len(view) - start) // self._room * self._room
        self._write(view[start:end])
        self._pending = bytes(view[end:])

    def close(self) -> None:
        """Write the last page."""
        self._write(memoryview(self._pending))
        self._pending = b""

    def __enter__(self) -> PageWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()

    def _write(self, view: memoryview) -> None:
        pages: list[bytes | memoryview] = []
        for start in range(0, len(view), self._room):
            page = view[start : start + self._room]
            pages += (page, _CHECKSUM.pack(crc32(page)))
        if pages:
            self._sink.write(b"".join(pages))


class PagedSource:
    """Reads a file of pages as the bytes that were written; a damaged page is a CorruptFile."""

    def __init__(self, source: RangedSource, page_bytes: int = PAGE_BYTES) -> None:
        if 0 < source.size % page_bytes <= _CHECKSUM.size:
            raise CorruptFile(source.name, source.size, "the last page is cut off")
        self.name = source.name
        self.size = source.size - _CHECKSUM.size * -(-source.size // page_bytes)
        self._source = source
        self._page_bytes = page_bytes
        self._room = page_bytes - _CHECKSUM.size

    def read(self, start: int, length: int) -> bytes:
        """Return `length` bytes from `start`, fewer only at the end of the file."""
        end = min(start + length, self.size)
        if end <= start:
            return b""
        first, after = start // self._room, -(-end // self._room)
        offset = first * self._page_bytes
        wanted = min(after * self._page_bytes, self._source.size) - offset
        data = self._source.read(offset, wanted)
        if len(data) != wanted:
            raise CorruptFile(self.name, offset, f"{wanted} bytes should be there and {len(data)} are")
        pages = self._pages(data, offset)
        pages[-1] = pages[-1][: end - (after - 1) * self._room]
        pages[0] = pages[0][start - first * self._room :]
        return b"".join(pages)

    def _pages(self, data: bytes, offset: int) -> list[memoryview]:
        """Check the pages and return them without their checksums."""
        view = memoryview(data)
        pages = []
        for at in range(0, len(view), self._page_bytes):
            middle = max(at, min(at + self._page_bytes, len(view)) - _CHECKSUM.size)
            page = view[at:middle]
            if view[middle : middle + _CHECKSUM.size] != _CHECKSUM.pack(crc32(page)):
                raise CorruptFile(self.name, offset + at, "a page does not fit its checksum")
            pages.append(page)
        return pages
