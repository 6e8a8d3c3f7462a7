from __future__ import annotations

import gzip
import io
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from crawlctl.pipeline.formats.warc.warc_date import warc_date
from crawlctl.pipeline.formats.warc.warc_reader import WarcReader, WarcRecord, split_http
from crawlctl.pipeline.formats.warc.warc_writer import (
    Capture,
    Original,
    Stored,
    WarcWriter,
    labelled_digest,
    stored_head,
)
from crawlctl.tests.bytes_source import BytesSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOON = 1_794_830_400.25
REQUEST = b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n"
PAGE = Capture("http://example.com/", NOON, REQUEST, HEAD, b"hello", "192.0.2.1")
NOT_MODIFIED = Capture(
    "http://example.com/", NOON, REQUEST, b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'
)
ORIGINAL = Original("http://example.com/", NOON - 86_400, "<urn:uuid:1>", labelled_digest(b"hello"))


def written(*steps: Callable[[WarcWriter], Stored]) -> tuple[bytes, list[Stored]]:
    sink = io.BytesIO()
    writer = WarcWriter(sink, "test.warc.gz", {"software": "crawlctl", "operator": "me\r\nand\tyou"})
    stored = [step(writer) for step in steps]
    assert writer.position == len(sink.getvalue())
    assert writer.records == 1 + 2 * len(steps)
    return sink.getvalue(), stored


def record_at(data: bytes, stored: Stored) -> WarcRecord:
    return next(iter(WarcReader(BytesSource(data), stored.offset)))


def field_values(data: bytes, stored: Stored) -> dict[str, str]:
    return dict(record_at(data, stored).headers)


def test_a_file_says_who_wrote_it_and_pairs_requests_with_responses() -> None:
    data, (stored,) = written(lambda writer: writer.capture(PAGE))
    info, request, response = [(record.headers, record.read()) for record in WarcReader(BytesSource(data))]
    assert dict(info[0])["WARC-Filename"] == "test.warc.gz"
    assert b"software: crawlctl\r\noperator: me and you\r\n" in info[1]
    assert request[1] == REQUEST
    assert response[1] == HEAD + b"hello"
    assert dict(response[0])["WARC-Concurrent-To"] == dict(request[0])["WARC-Record-ID"]
    assert dict(response[0])["WARC-Warcinfo-ID"] == dict(info[0])["WARC-Record-ID"]
    assert dict(response[0])["WARC-Record-ID"] == stored.record_id


def test_a_response_has_the_fields_that_archives_expect() -> None:
    data, (stored,) = written(lambda writer: writer.capture(PAGE))
    fields = field_values(data, stored)
    assert fields["WARC-Type"] == "response"
    assert fields["WARC-Date"] == "2026-11-16T12:00:00Z"
    assert fields["WARC-Target-URI"] == "http://example.com/"
    assert fields["WARC-IP-Address"] == "192.0.2.1"
    assert fields["WARC-Payload-Digest"] == stored.payload_digest == "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"
    assert fields["WARC-Block-Digest"] == labelled_digest(HEAD + b"hello")
    assert "WARC-Truncated" not in fields


@pytest.mark.parametrize("reason", ["length", "time", "disconnect", "unspecified"])
def test_a_body_that_is_not_whole_is_marked(reason: str) -> None:
    cut = Capture(PAGE.url, NOON, REQUEST, HEAD, b"hel", truncated=reason)
    data, (stored,) = written(lambda writer: writer.capture(cut))
    assert field_values(data, stored)["WARC-Truncated"] == reason
    head, body = split_http(record_at(data, stored).read())
    assert body == b"hel"
    assert b"X-Crawler-Content-Length: 5\r\nContent-Length: 3\r\n" in head


def test_a_page_that_has_not_changed_is_a_revisit() -> None:
    data, (stored,) = written(lambda writer: writer.not_modified(NOT_MODIFIED, ORIGINAL))
    fields = field_values(data, stored)
    assert fields["WARC-Type"] == "revisit"
    assert fields["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert fields["WARC-Refers-To"] == "<urn:uuid:1>"
    assert fields["WARC-Refers-To-Target-URI"] == "http://example.com/"
    assert fields["WARC-Refers-To-Date"] == "2026-11-15T12:00:00Z"
    assert stored.payload_digest == ORIGINAL.payload_digest
    assert record_at(data, stored).read().startswith(b"HTTP/1.1 304 Not Modified\r\n")


def test_http_2_is_written_as_http_1_1() -> None:
    capture = Capture(PAGE.url, NOON, REQUEST, b"HTTP/2 200 \r\nA: b\r\n\r\n", b"hi", protocol="h2")
    data, (stored,) = written(lambda writer: writer.capture(capture))
    assert field_values(data, stored)["WARC-Protocol"] == "h2"
    assert record_at(data, stored).read() == b"HTTP/1.1 200 \r\nA: b\r\nContent-Length: 2\r\n\r\nhi"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"Content-Length: 5", b"Content-Length: 5"),
        (b"content-length:5", b"content-length:5"),
        (b"A: b", b"A: b\r\nContent-Length: 5"),
        (b"Content-Length: 9", b"X-Crawler-Content-Length: 9\r\nContent-Length: 5"),
        (b"Content-Length: 5\r\nContent-Length: 9", b"Content-Length: 5\r\nX-Crawler-Content-Length: 9"),
        (
            b"Content-Encoding: br\r\nContent-Length: 5",
            b"X-Crawler-Content-Encoding: br\r\nContent-Length: 5",
        ),
        (
            b"TRANSFER-ENCODING : chunked\nA: b",
            b"X-Crawler-TRANSFER-ENCODING : chunked\r\nA: b\r\nContent-Length: 5",
        ),
        (b"A: b\r\n folded", b"A: b\r\n folded\r\nContent-Length: 5"),
    ],
)
def test_headers_are_true_of_the_body_that_is_stored(head: bytes, expected: bytes) -> None:
    stored = stored_head(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n", 5)
    assert stored == b"HTTP/1.1 200 OK\r\n" + expected + b"\r\n\r\n"


def test_dates_are_of_greenwich(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert warc_date(0) == "1970-01-01T00:00:00Z"


def test_warcio_finds_nothing_to_object_to(tmp_path: Path) -> None:
    path = tmp_path / "ours.warc.gz"
    cut = Capture(PAGE.url, NOON, REQUEST, HEAD, b"hel", truncated="time")
    data, _ = written(
        lambda writer: writer.capture(PAGE),
        lambda writer: writer.capture(cut),
        lambda writer: writer.not_modified(NOT_MODIFIED, ORIGINAL),
    )
    path.write_bytes(data)
    checked = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", "-v", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout.count("digest pass") == 6
    assert checked.stdout.count("not checked (revisit)") == 1


@given(
    bodies=st.lists(st.binary(max_size=2000), max_size=5),
    headers=st.lists(st.sampled_from([b"Content-Encoding: gzip", b"Content-Length: 7", b"A: b"]), max_size=3),
)
def test_warcio_reads_back_what_was_captured(bodies: list[bytes], headers: list[bytes]) -> None:
    head = b"\r\n".join([b"HTTP/1.1 200 OK", *headers, b"", b""])
    captures = [Capture(f"http://a/{n}", NOON, REQUEST, head, body) for n, body in enumerate(bodies)]
    data, stored = written(*[lambda writer, each=each: writer.capture(each) for each in captures])
    seen = [
        (record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read())
        for record in ArchiveIterator(io.BytesIO(data), check_digests="raise")
        if record.rec_type == "response"
    ]
    assert seen == [(capture.url, capture.body) for capture in captures]
    for each, capture in zip(stored, captures, strict=True):
        member = gzip.decompress(data[each.offset : each.offset + each.length])
        assert member.startswith(b"WARC/1.1\r\n")
        assert member.endswith(b"\r\n\r\n" + capture.body + b"\r\n\r\n")
