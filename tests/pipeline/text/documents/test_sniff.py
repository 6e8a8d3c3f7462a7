from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.text.documents.sniff import DocumentKind, media_type, sniff

PAGE = b"<!DOCTYPE html><html><head><title>t</title></head><body>b</body></html>"
XHTML = b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><body/></html>'
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html; charset=utf-8", PAGE, DocumentKind.HTML),
        ("TEXT/HTML", PAGE, DocumentKind.HTML),
        ("text/html", b"no tags at all", DocumentKind.HTML),
        ("text/html", b"", DocumentKind.HTML),
        ("text/html", b"<p>a\0b", DocumentKind.HTML),
        ("application/xhtml+xml", XHTML, DocumentKind.XHTML),
        ("application/xml", XHTML, DocumentKind.XHTML),
        ("text/xml", b"<rss version='2.0'>", DocumentKind.UNSUPPORTED),
        ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>", DocumentKind.UNSUPPORTED),
        ("text/plain", b"just words", DocumentKind.TEXT),
        ("text/markdown", b"# heading", DocumentKind.TEXT),
        ("application/pdf", b"%PDF-1.7\n", DocumentKind.PDF),
        ("application/json", b'{"a": 1}', DocumentKind.UNSUPPORTED),
        ("text/css", b"a { color: red }", DocumentKind.UNSUPPORTED),
        ("image/png", PNG, DocumentKind.UNSUPPORTED),
    ],
)
def test_an_honest_header_is_believed(content_type: str, body: bytes, kind: DocumentKind) -> None:
    assert sniff(content_type, body) is kind


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html", b"%PDF-1.4\n%\xe2\xe3", DocumentKind.PDF),
        ("text/plain", b"\n%PDF-1.4\n", DocumentKind.PDF),
        ("application/octet-stream", b"%PDF-1.4\n", DocumentKind.PDF),
        ("application/pdf", PAGE, DocumentKind.UNSUPPORTED),
        ("text/html", PNG, DocumentKind.UNSUPPORTED),
        ("text/html", b"\x1f\x8b\x08\0\0\0", DocumentKind.UNSUPPORTED),
        ("text/html", b"PK\x03\x04\x14\0", DocumentKind.UNSUPPORTED),
        ("text/html", b"RIFF\x24\0\0\0WEBPVP8 ", DocumentKind.UNSUPPORTED),
        ("text/html", b"\0\0\0\x18ftypmp42", DocumentKind.UNSUPPORTED),
        ("text/html", b"<?xml version='1.0'?><!-- c --><rss>", DocumentKind.UNSUPPORTED),
        ("text/html", b"<feed xmlns='http://www.w3.org/2005/Atom'>", DocumentKind.UNSUPPORTED),
        ("text/plain; charset=ISO-8859-1", b"\x00\x01\x02 program", DocumentKind.UNSUPPORTED),
        ("text/plain", "Grüße\n".encode("utf-16"), DocumentKind.TEXT),
        ("text/plain", PAGE, DocumentKind.TEXT),
        ("text/plain", b"\x1b$B$3$l\x1b(B", DocumentKind.TEXT),
    ],
)
def test_a_lying_header_is_found_out(content_type: str, body: bytes, kind: DocumentKind) -> None:
    assert sniff(content_type, body) is kind


@pytest.mark.parametrize(
    "content_type", [None, "", "html", "*/*", "application/octet-stream", "unknown/unknown"]
)
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (PAGE, DocumentKind.HTML),
        (b"\xef\xbb\xbf  <html>", DocumentKind.HTML),
        ("<html><p>é".encode("utf-16"), DocumentKind.HTML),
        ("<html><p>é".encode("utf-16-le"), DocumentKind.HTML),
        (b"<!-- c --><p>text", DocumentKind.HTML),
        (XHTML, DocumentKind.XHTML),
        (b"<?xml version='1.0'?><note/>", DocumentKind.UNSUPPORTED),
        (b"words and words", DocumentKind.TEXT),
        (b"\x00\x01\x02\x03", DocumentKind.UNSUPPORTED),
        (b"", DocumentKind.UNSUPPORTED),
        (PNG, DocumentKind.UNSUPPORTED),
    ],
)
def test_without_a_header_the_body_decides(content_type: str | None, body: bytes, kind: DocumentKind) -> None:
    assert sniff(content_type, body) is kind


@pytest.mark.parametrize(
    "prologue", [b" " * 5000, b"<!---->" * 300, b"<??>" * 400, b"<!-- " * 400, b"<!a[" * 400]
)
def test_a_hostile_prologue_is_given_up_in_linear_time(prologue: bytes) -> None:
    assert sniff("text/xml", prologue) is DocumentKind.UNSUPPORTED


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (" Text/HTML ;charset=x", "text/html"),
        ("text/html", "text/html"),
        ("text", ""),
        ("a b/c", ""),
        (None, ""),
    ],
)
def test_the_media_type_is_what_precedes_the_parameters(header: str | None, expected: str) -> None:
    assert media_type(header) == expected


@given(st.text(max_size=40) | st.none(), st.binary(max_size=2000))
def test_whatever_comes_has_a_kind(content_type: str | None, body: bytes) -> None:
    assert isinstance(sniff(content_type, body), DocumentKind)
