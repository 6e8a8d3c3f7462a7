"""Decodes the body of an archived response: chunks and compression are undone, as in a browser.

Most crawlers archive the bytes of the connection: in chunks, and compressed. Other crawlers, as crawlctl
does, archive the decoded body and rename the headers that no longer fit. Some crawlers have archived decoded
bodies with the old headers, so a body that does not fit its headers is taken as it is.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_RAW = -zlib.MAX_WBITS
_ZSTD_WINDOW = 23  # as a power of two: 8 MB, the largest window that a server may use (RFC 9659)


class UnknownEncoding(ValueError):
    """A body is compressed in a way that we cannot decode."""


def plain_body(body: bytes, headers: dict[str, str], limit: int) -> bytes:
    """Return a body without chunks and content encodings, at most `limit` bytes of it."""
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _without_chunks(body)
    encodings = headers.get("content-encoding", "").lower().split(",")
    for encoding in reversed([name.strip() for name in encodings if name.strip()]):
        body = _decoder(encoding)(body, limit)
    return body[:limit]


def _without_chunks(body: bytes) -> bytes:
    """Return a body without its chunk headers; bytes that are no chunk end it, or were never chunked."""
    chunks: list[bytes] = []
    at = 0
    while (end := body.find(b"\n", at, at + 1024)) >= 0:
        size = _chunk_size(body[at:end])
        if size is None:
            return b"".join(chunks) if chunks else body
        if size == 0:
            return b"".join(chunks)
        chunks.append(body[end + 1 : end + 1 + size])
        at = end + 1 + size
        at += 2 if body[at : at + 2] == b"\r\n" else 1
    return b"".join(chunks) if chunks else body


def _chunk_size(line: bytes) -> int | None:
    digits = line.partition(b";")[0].strip()
    if not digits or len(digits) > 16 or digits.strip(b"0123456789abcdefABCDEF"):
        return None
    return int(digits, 16)


def _decoder(encoding: str) -> Callable[[bytes, int], bytes]:
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _inflated
    if encoding == "br":
        return _without_brotli
    if encoding == "zstd":
        return _without_zstd
    if encoding in ("identity", "none", "utf-8"):
        return lambda body, _limit: body
    raise UnknownEncoding(encoding)


def _inflated(body: bytes, limit: int) -> bytes:
    for bits in (_GZIP_OR_ZLIB, _RAW):
        try:
            return zlib.decompressobj(bits).decompress(body, limit)
        except zlib.error:
            continue
    return body


def _without_brotli(body: bytes, limit: int) -> bytes:
    import brotli

    try:
        return bytes(brotli.Decompressor().process(body, output_buffer_limit=limit))
    except brotli.error:
        return body


def _without_zstd(body: bytes, limit: int) -> bytes:
    from crawlctl.pipeline.formats.zstd_module import zstd

    window: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW}
    try:
        return bytes(zstd.ZstdDecompressor(options=window).decompress(body, limit))
    except zstd.ZstdError:
        return body
