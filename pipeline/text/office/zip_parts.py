"""The parts of a document that is a ZIP file, decompressed in chunks, with a limit for all parts together.

The directory of a ZIP file says how large a part is, and zipfile reads no more than that. But a small file
may have many parts, or one that inflates a thousandfold. So decompressed bytes are counted while they are
read, and only the current chunk is kept.
"""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from crawlctl.pipeline.text.documents.page import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_INFLATED = 128 << 20  # the most decompressed bytes of all parts that are read
_CHUNK = 64 << 10
_DAMAGE = (BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)


class ZipParts:
    """The parts of one document; `names` are the names of all parts, in the order of the directory."""

    def __init__(self, body: bytes) -> None:
        try:
            self._zip = ZipFile(BytesIO(body))
        except _DAMAGE as error:
            raise Unreadable(f"the ZIP directory cannot be read: {error}") from error
        self.names = self._zip.namelist()
        self._left = MAX_INFLATED

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the inflated bytes of a part; nothing if there is no such part."""
        if name not in self:
            return
        try:
            with self._zip.open(name) as part:
                while data := part.read(_CHUNK):
                    self._left -= len(data)
                    if self._left < 0:
                        raise Unreadable(f"its parts have more than {MAX_INFLATED} bytes")
                    yield data
        except _DAMAGE as error:  # damaged, encrypted, or compressed in a way that Python does not know
            raise Unreadable(f"the part {name} cannot be read: {error}") from error

    def content(self, name: str, limit: int) -> bytes:
        """Return at most `limit` bytes of a part; empty if there is no such part."""
        content = bytearray()
        for data in self.chunks(name):
            content += data
            if len(content) >= limit:
                break
        return bytes(content[:limit])
