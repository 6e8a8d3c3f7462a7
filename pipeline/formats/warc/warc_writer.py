"""Writer of web archives (WARC 1.1): requests, responses, and revisits of pages that have not changed.

Each record is a gzip member of its own: any record can be read by its offset, and files can be joined by
`cat`. Why not warcio? This writer takes 4,087 pairs of request and response of a 40 kB page per second,
warcio 630 (bench/bench_warc.py); a fetch task writes such a pair for every page.

Bodies are stored as libcurl returns them, without chunks and content encodings, because readers of an archive
want text and not one of four codecs. The header lines that would no longer be true are kept under other
names, as Common Crawl does: `Content-Encoding: br` becomes `X-Crawler-Content-Encoding: br`, likewise
`Transfer-Encoding`, and a `Content-Length` that is not the length of the stored body; a line with the true
length is added.

https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/
"""

from __future__ import annotations

import uuid
from base64 import b32encode
from hashlib import sha1
from time import time
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from isal import isal_zlib

from crawlctl.pipeline.formats.warc.warc_date import warc_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LEVEL = 2
_GZIP_BITS = 31
_NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
_UNTRUE_HEADERS = (b"content-encoding", b"transfer-encoding", b"content-length")
_OTHER_NAME = b"X-Crawler-"


class Capture(msgspec.Struct, frozen=True):
    """One exchange with a server."""

    url: str
    date: float  # seconds since 1970, when the request was made
    request: bytes  # request line and headers, as sent
    head: bytes  # status line and headers, as received, with the empty line behind them
    body: bytes = b""  # without chunks and content encodings
    ip: str = ""  # the address of the server; empty if it is not known
    truncated: str | None = None  # why the body is not whole: length, time, disconnect or unspecified
    protocol: str = ""  # "h2" for HTTP/2; the head of HTTP/1 has its version itself


class Original(msgspec.Struct, frozen=True):
    """The earlier capture that a revisit found to be still valid."""

    url: str
    date: float
    record_id: str | None = None
    payload_digest: str | None = None


class Stored(msgspec.Struct, frozen=True):
    """Where a record lies in its file, and the fields by which later revisits refer to it."""

    offset: int
    length: int
    record_id: str
    payload_digest: str | None
    request: int = 0  # bytes of the record of the request, which lies directly before; 0: there is none


class WarcWriter:
    """Writes captures to a sink, which it does not close; the first record has the fields of `about`."""

    def __init__(self, sink: BinaryIO, name: str, about: Mapping[str, str]) -> None:
        self.records = 0
        self.position = 0
        self._sink = sink
        fields = {"format": "WARC File Format 1.1", "conformsTo": _CONFORMS_TO, **about}
        block = _lines(fields.items()) + b"\r\n"
        extra = [("WARC-Filename", name), ("Content-Type", "application/warc-fields")]
        self._info = self._append("warcinfo", time(), extra, block).record_id

    def capture(self, capture: Capture) -> Stored:
        """Write the request and the response; return where the response lies."""
        request = self._request(capture)
        digest = labelled_digest(capture.body)
        fields = [("WARC-Payload-Digest", digest)]
        if capture.truncated:
            fields.append(("WARC-Truncated", capture.truncated))
        block = stored_head(capture.head, len(capture.body)) + capture.body
        return self._exchange("response", capture, fields, block, request=request, digest=digest)

    def not_modified(self, capture: Capture, original: Original) -> Stored:
        """Write the request and an answer 304: the page of `original` has not changed."""
        request = self._request(capture)
        fields = [
            ("WARC-Profile", _NOT_MODIFIED),
            ("WARC-Refers-To-Target-URI", original.url),
            ("WARC-Refers-To-Date", warc_date(original.date)),
        ]
        if original.record_id:
            fields.append(("WARC-Refers-To", original.record_id))
        if original.payload_digest:
            fields.append(("WARC-Payload-Digest", original.payload_digest))
        block = stored_head(capture.head, 0)
        digest = original.payload_digest
        return self._exchange("revisit", capture, fields, block, request=request, digest=digest)

    def _request(self, capture: Capture) -> Stored:
        """Write the request and return where it lies."""
        return self._append("request", capture.date, _about(capture, "request"), capture.request)

    def _exchange(
        self,
        kind: str,
        capture: Capture,
        fields: list[tuple[str, str]],
        block: bytes,
        *,
        request: Stored,
        digest: str | None,
    ) -> Stored:
        """Write the answer to a request that was just written."""
        fields = [*_about(capture, "response"), ("WARC-Concurrent-To", request.record_id), *fields]
        stored = self._append(kind, capture.date, fields, block, digest)
        return Stored(stored.offset, stored.length, stored.record_id, digest, request.length)

    def _append(
        self, kind: str, date: float, fields: list[tuple[str, str]], block: bytes, digest: str | None = None
    ) -> Stored:
        record_id = uuid.uuid4().urn
        header = _lines(
            (
                ("WARC-Type", kind),
                ("WARC-Record-ID", f"<{record_id}>"),
                ("WARC-Date", warc_date(date)),
                *fields,
                *(() if kind == "warcinfo" else (("WARC-Warcinfo-ID", self._info),)),
                ("WARC-Block-Digest", labelled_digest(block)),
                ("Content-Length", str(len(block))),
            )
        )
        record = b"".join((b"WARC/1.1\r\n", header, b"\r\n", block, b"\r\n\r\n"))
        member = isal_zlib.compress(record, _LEVEL, _GZIP_BITS)
        self._sink.write(member)
        stored = Stored(self.position, len(member), f"<{record_id}>", digest)
        self.position += len(member)
        self.records += 1
        return stored


def labelled_digest(data: bytes) -> str:
    """Return the digest of a block or payload in the form that web archives use: SHA-1 in base 32."""
    return "sha1:" + b32encode(sha1(data, usedforsecurity=False).digest()).decode("ascii")


def stored_head(head: bytes, body_bytes: int) -> bytes:
    """Return the head of a response with header lines that are true of a plain body of `body_bytes` bytes."""
    length = b"%d" % body_bytes
    lines, has_length = [], False
    for line in head.rstrip(b"\r\n").split(b"\n"):
        name, _, value = line.partition(b":")
        name = name.strip().lower()
        is_true_length = name == b"content-length" and value.strip() == length
        is_untrue = name in _UNTRUE_HEADERS and not is_true_length
        has_length = has_length or is_true_length
        lines.append((_OTHER_NAME + line if is_untrue else line).rstrip(b"\r"))
    if not has_length:
        lines.append(b"Content-Length: " + length)
    # HTTP/2 has no text form of its own; archives use the form of HTTP/1.1.
    if not lines[0].startswith(b"HTTP/1."):
        lines[0] = b"HTTP/1.1 " + lines[0].partition(b" ")[2]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _about(capture: Capture, message: str) -> list[tuple[str, str]]:
    fields = [("WARC-Target-URI", capture.url), ("Content-Type", f"application/http; msgtype={message}")]
    if capture.ip:
        fields.append(("WARC-IP-Address", capture.ip))
    if capture.protocol:
        fields.append(("WARC-Protocol", capture.protocol))
    return fields


def _lines(fields: Iterable[tuple[str, str]]) -> bytes:
    """Return named fields as lines; white space in a value, line ends too, becomes one space."""
    return "".join(f"{name}: {' '.join(value.split())}\r\n" for name, value in fields).encode()
