from __future__ import annotations

from sys import getsizeof

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.http.body import (
    MANY_WRITES,
    SNIFFED_BYTES,
    Body,
    body_cost,
    body_limit,
    must_be_whole,
    pdf_limit,
)
from crawlctl.pipeline.http.exchange import Request
from crawlctl.pipeline.text.documents.sniff import DocumentKind, sniff


@given(st.lists(st.binary(max_size=50), max_size=20))
def test_a_body_is_its_pieces(pieces: list[bytes]) -> None:
    body = Body()
    for piece in pieces:
        body.append(piece)
    assert body.content() == b"".join(pieces)
    assert (body.size, body.writes) == (len(body.content()), len(pieces))


def test_a_body_in_one_piece_is_not_copied() -> None:
    body, page = Body(), bytes(1000)
    body.append(page)
    assert body.content() is page


@given(st.lists(st.integers(2, 300), min_size=1, max_size=1000))
def test_it_takes_no_more_memory_than_is_reckoned(sizes: list[int]) -> None:
    body = Body()
    for size in sizes:
        body.append(bytes(size))
        taken = body._buffer.__alloc__() + sum(map(getsizeof, body._loose)) + 8 * len(body._loose)
        assert taken <= body_cost(body.size) + 16


def test_very_many_very_small_pieces_are_too_many() -> None:
    crumbs, slices = Body(), Body()
    told = []
    for _ in range(MANY_WRITES + 1000):
        told.append(crumbs.is_crumbled)
        crumbs.append(b"x")
        slices.append(bytes(64))
    assert told.index(True) > MANY_WRITES
    assert (crumbs.is_crumbled, slices.is_crumbled) == (True, False)


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
        ("", b"PK\3\4" + bytes(26) + b"mimetypeapplication/epub+zip"),
        ("", b"PK\3\4" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.text"),
        ("", b"PK\3\4" + bytes(26) + b"[Content_Types].xml"),
        ("", b"PK\3\4" + bytes(26) + b"photos/1.jpg"),
    ],
)
def test_what_must_be_whole_here_is_so_for_the_parser(content_type: str, start: bytes) -> None:
    kinds = (DocumentKind.PDF, DocumentKind.OFFICE, DocumentKind.EPUB)
    assert must_be_whole(start[:SNIFFED_BYTES]) is (sniff(content_type, start) in kinds)
