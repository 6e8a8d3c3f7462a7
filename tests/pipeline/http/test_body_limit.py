from __future__ import annotations

import pytest

from crawlctl.pipeline.http.body_limit import SNIFFED_BYTES, body_limit, is_pdf, pdf_limit
from crawlctl.pipeline.http.exchange import Request
from crawlctl.pipeline.text.documents.sniff import DocumentKind, sniff

MAX_BODY = 8 << 20
PDF = 32 << 20


@pytest.mark.parametrize(
    ("request_", "page", "pdf"),
    [
        (Request(""), MAX_BODY, MAX_BODY),
        (Request("", max_pdf_bytes=PDF), MAX_BODY, PDF),
        (Request("", max_pdf_bytes=1), MAX_BODY, MAX_BODY),
        (Request("", max_bytes=50 << 20), 50 << 20, 50 << 20),
        (Request("", max_bytes=500, max_pdf_bytes=PDF), 500, 500),
    ],
)
def test_limits(request_: Request, page: int, pdf: int) -> None:
    assert (body_limit(request_, MAX_BODY), pdf_limit(request_, MAX_BODY)) == (page, pdf)


@pytest.mark.parametrize(
    ("content_type", "start"),
    [
        ("application/pdf", b"%PDF-1.4"),
        ("text/html", b"\r\n%PDF-1.7"),
        ("", b" " * 64 + b"%PDF-1.7"),
        ("application/x-pdf;q=1", b"x"),
        ("text/html", b"<p>%PDF-"),
        ("", b" " * 65 + b"%PDF-1.7"),
    ],
)
def test_a_pdf_here_is_a_pdf_for_the_parser(content_type: str, start: bytes) -> None:
    is_parsed_as_pdf = sniff(content_type, start) is DocumentKind.PDF
    assert is_pdf(start[:SNIFFED_BYTES]) is is_parsed_as_pdf
