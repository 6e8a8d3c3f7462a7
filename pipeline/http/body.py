"""The body of one answer: collects it while libcurl delivers it, and decides at how many bytes it is cut.

A request with a limit of its own (robots.txt, sitemaps) is cut at that limit. A page is cut at
fetch.max_body. A PDF, an Office document or an e-book is useless when it is cut, because its table of
contents lies at its end; so it may grow to parse.max_pdf. Only its first bytes decide whether it is such a
document, because the parser reads no other body as a PDF, whatever the Content-Type says. The memory of all
bodies together is bounded elsewhere (body_budget.py).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlctl.pipeline.http.exchange import Request

# libcurl calls Python once per write. A server that sends single bytes costs half a microsecond for each of
# them, and more with TLS.
MANY_WRITES = 100_000
_SMALL_WRITE = 64  # bytes on average
_LOOSE_WRITES = 256
_WRITE_OVERHEAD = 41  # bytes of memory per write beside its content: the object and its slot in a list
SNIFFED_BYTES = 69  # from the start of a body, to recognise a document that is useless when it is cut
# As in text/documents/sniff.py.
_WHOLE_START = re.compile(
    rb"[\t\n\f\r ]{0,64}%PDF-"
    rb"|PK\x03\x04.{26}(?:mimetypeapplication/(?:epub\+zip|vnd\.oasis\.)|\[Content_Types\]\.xml"
    rb"|(?:_rels|docProps|word|ppt|xl)/)",
    re.S,
)


class Body:
    """The bytes received so far: up to 256 writes in a list, all earlier ones joined in one buffer."""

    __slots__ = ("_buffer", "_loose", "_packed", "is_crumbled", "size")

    def __init__(self) -> None:
        self.size = 0
        # True when the body comes in too many small writes: they cost more CPU than a page is worth.
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


def body_limit(request: Request, max_body: int) -> int:
    """Return the limit in bytes of a body whose type is not known yet."""
    return max_body if request.max_bytes is None else request.max_bytes


def pdf_limit(request: Request, max_body: int) -> int:
    """Return the limit in bytes of a body that is a PDF or another document that must be whole."""
    limit = body_limit(request, max_body)
    return limit if request.max_bytes is not None else max(limit, request.max_pdf_bytes)


def must_be_whole(start: bytes) -> bool:
    """Return whether a body that begins with these bytes is a PDF, an Office document or an e-book."""
    return _WHOLE_START.match(start) is not None
