from __future__ import annotations

import io

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawlctl.pipeline.config.settings import FetchSettings
from crawlctl.pipeline.fetch.save.archive_records import capture_of
from crawlctl.pipeline.formats.warc.warc_writer import WarcWriter
from crawlctl.pipeline.http.exchange import Answer, Request, Truncation

SETTINGS = FetchSettings(contact="https://example.org/bot")


def test_an_answer_of_http_2_that_was_compressed_and_cut_off_can_be_archived() -> None:
    answer = Answer(
        request=Request("http://example.com/ä", etag='"1"'),
        url="http://example.com/%C3%A4",
        started=0.0,
        status=200,
        version="2",
        head=b"HTTP/2 200 \r\ncontent-encoding: br\r\ncontent-length: 99\r\n\r\n",
        body=b"hello",
        truncated=Truncation.TIME,
        ip="192.0.2.1",
    )
    sink = io.BytesIO()
    WarcWriter(sink, "a.warc.gz", {}).capture(capture_of(answer, SETTINGS))
    sink.seek(0)
    _, request, response = [
        (record.rec_headers, record.http_headers, record.content_stream().read())
        for record in ArchiveIterator(sink, check_digests="raise")
    ]
    assert request[1].get_header("if-none-match") == '"1"'
    assert request[1].get_header("host") == "example.com"
    assert response[0].get_header("WARC-Truncated") == "time"
    assert response[0].get_header("WARC-Protocol") == "h2"
    assert response[1].get_header("x-crawler-content-encoding") == "br"
    assert response[1].get_header("content-length") == "5"
    assert response[2] == b"hello"


def test_what_was_not_answered_cannot_be_archived() -> None:
    answer = Answer(request=Request("http://a/"), url="http://a/", started=0.0)
    with pytest.raises(ValueError, match="nothing to archive"):
        capture_of(answer, SETTINGS)
