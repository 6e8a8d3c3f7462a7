"""Web archives (WARC 1.1): what was asked, what came back, and that it had not changed.

Each record is a gzip member of its own: any one can be read by its offset, and files can be joined by `cat`.

Bodies are kept as libcurl hands them over, without chunks and content encodings, because whoever reads an
archive wants text and not one of four codecs.  The header lines that would no longer be true are kept under
other names, as Common Crawl does: `Content-Encoding: br` becomes `X-Crawler-Content-Encoding: br`, likewise
`Transfer-Encoding`, and a `Content-Length` other than that of the stored body, which gets a line of its own.

https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/
"""

from __future__ import annotations

import uuid
from base64 import b32encode
from hashlib import sha1
from time import gmtime, strftime, time
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from isal import isal_zlib

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LEVEL = 2
_GZIP_BITS = 31
_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
_CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
_UNTRUE_HEADERS = (b"content-encoding", b"transfer-encoding", b"content-length")
_OTHER_NAME = b"X-Crawler-"


class Capture(msgspec.Struct, frozen=True):
    """One exchange with a server."""

    url: str
    # Seconds since 1970, when the request was made.
    date: float
    # The request line and headers, as sent.
    request: bytes
    # The status line and headers, as received, with the empty line behind them.
    head: bytes
    # Without chunks and content encodings.
    body: bytes = b""
    # Of the server; empty if it is not known.
    ip: str = ""
    # Why the body is not whole: length, time, disconnect or unspecified.
    truncated: str | None = None
    # h2 if it was HTTP/2; of HTTP/1 the head itself tells the version.
    protocol: str = ""


class Original(msgspec.Struct, frozen=True):
    """The capture that a revisit found to be still valid."""

    url: str
    date: float
    record_id: str | None = None
    payload_digest: str | None = None


class Stored(msgspec.Struct, frozen=True):
    """Where a record lies in its file, and what later revisits say of it."""

    offset: int
    length: int
    record_id: str
    payload_digest: str | None


class WarcWriter:
    """Writes captures to a sink, which it does not close; the first record says who writes and why."""

    def __init__(self, sink: BinaryIO, name: str, about: Mapping[str, str]) -> None:
        self.records = 0
        self.position = 0
        self._sink = sink
        fields = {"format": "WARC File Format 1.1", "conformsTo": _CONFORMS_TO, **about}
        block = _lines(fields.items()) + b"\r\n"
        extra = [("WARC-Filename", name), ("Content-Type", "application/warc-fields")]
        self._info = self._append("warcinfo", time(), extra, block).record_id

    def capture(self, capture: Capture) -> Stored:
        """Write the request and the response; what is returned is about the response."""
        request_id = self._request(capture)
        digest = labelled_digest(capture.body)
        fields = [("WARC-Concurrent-To", request_id), ("WARC-Payload-Digest", digest)]
        if capture.truncated:
            fields.append(("WARC-Truncated", capture.truncated))
        block = stored_head(capture.head, len(capture.body)) + capture.body
        return self._exchange("response", capture, fields, block, digest)

    def not_modified(self, capture: Capture, original: Original) -> Stored:
        """Write the request and the answer 304, which says that what `original` is about has not changed."""
        fields = self._revisit(capture, original, "server-not-modified", original.payload_digest)
        block = stored_head(capture.head, 0)
        return self._exchange("revisit", capture, fields, block, original.payload_digest)

    def identical(self, capture: Capture, original: Original) -> Stored:
        """Write the request and an answer whose body is the same as that of `original`, without the body."""
        digest = labelled_digest(capture.body)
        fields = self._revisit(capture, original, "identical-payload-digest", digest)
        fields.append(("WARC-Truncated", "length"))
        block = stored_head(capture.head, len(capture.body))
        return self._exchange("revisit", capture, fields, block, digest)

    def _request(self, capture: Capture) -> str:
        fields = _about(capture, "request")
        return self._append("request", capture.date, fields, capture.request).record_id

    def _revisit(
        self, capture: Capture, original: Original, profile: str, digest: str | None
    ) -> list[tuple[str, str]]:
        fields = [
            ("WARC-Concurrent-To", self._request(capture)),
            ("WARC-Profile", _PROFILES + profile),
            ("WARC-Refers-To-Target-URI", original.url),
            ("WARC-Refers-To-Date", warc_date(original.date)),
        ]
        if original.record_id:
            fields.append(("WARC-Refers-To", original.record_id))
        if digest:
            fields.append(("WARC-Payload-Digest", digest))
        return fields

    def _exchange(
        self, kind: str, capture: Capture, fields: list[tuple[str, str]], block: bytes, digest: str | None
    ) -> Stored:
        return self._append(kind, capture.date, _about(capture, "response") + fields, block, digest)

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


def warc_date(moment: float) -> str:
    """Return seconds since 1970 as WARC writes them, in UTC and to the second."""
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(moment))


def labelled_digest(data: bytes) -> str:
    """Return the digest of a block or payload in the form that archives have agreed on."""
    return "sha1:" + b32encode(sha1(data, usedforsecurity=False).digest()).decode("ascii")


def stored_head(head: bytes, body_bytes: int) -> bytes:
    """Return the head of a response so that it is true of a body without encodings and of this length."""
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
    # HTTP/2 has no text form of its own; archives use that of HTTP/1.1.
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
    """Return named fields as lines; white space in a value, line ends among it, becomes one space."""
    return "".join(f"{name}: {' '.join(value.split())}\r\n" for name, value in fields).encode()
