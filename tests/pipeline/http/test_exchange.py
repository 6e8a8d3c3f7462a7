from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.http.exchange import Answer, Request, parse_headers, parse_retry_after

NOON = 1_794_830_400.0  # Mon, 16 Nov 2026 12:00:00 GMT


@pytest.mark.parametrize(
    ("head", "headers"),
    [
        (b"HTTP/1.1 200 OK\r\nA: 1\r\nb:2 \r\n\r\n", (("a", "1"), ("b", "2"))),
        (b"HTTP/1.1 200 OK\nA: 1\n\n", (("a", "1"),)),
        (b"HTTP/1.1 200 OK\r\nA: one\r\n two\r\n\tthree\r\n\r\n", (("a", "one two three"),)),
        (b"HTTP/1.1 200 OK\r\nA: 1\r\nA: 2\r\n\r\n", (("a", "1"), ("a", "2"))),
        (b"HTTP/1.1 200 OK\r\nLocation: /\xc3\xbc\r\n\r\n", (("location", "/ü"),)),
        (b"HTTP/1.1 200 OK\r\nLocation: /\xfc\r\n\r\n", (("location", "/ü"),)),
        (b"HTTP/1.1 200 OK\r\nno colon\r\nX-Empty:\r\n\r\n", (("x-empty", ""),)),
        (b"HTTP/1.1 200 OK\r\n folded at once\r\n\r\n", ()),
        (b"HTTP/2 200 \r\n\r\n", ()),
        (b"", ()),
    ],
)
def test_header_lines_are_read_as_they_are_meant(head: bytes, headers: tuple[tuple[str, str], ...]) -> None:
    assert parse_headers(head) == headers


@given(st.binary())
def test_no_header_is_too_strange_to_be_read(head: bytes) -> None:
    for name, value in parse_headers(b"HTTP/1.1 200 OK\r\n" + head):
        assert "\n" not in name + value


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("Mon, 16 Nov 2026 12:02:00 GMT", 120),
        ("Mon, 16 Nov 2026 12:02:00 -0000", 120),
        ("Monday, 16-Nov-26 12:02:00 GMT", 120),
        ("Mon, 16 Nov 2026 11:00:00 GMT", 0),
        ("Mon, 16 Nov 2099 12:00:00 GMT", 604_800),
        ("9" * 12, 604_800),
        ("9" * 100_000, 604_800),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_both_forms_of_retry_after_are_understood(value: str | None, seconds: int | None) -> None:
    assert parse_retry_after(value, now=NOON) == seconds


@given(st.text())
def test_no_retry_after_is_too_strange(value: str) -> None:
    seconds = parse_retry_after(value, now=NOON)
    assert seconds is None or 0 <= seconds <= 604_800


def test_headers_are_found_by_name() -> None:
    headers = (("x-robots-tag", "noindex"), ("content-type", "text/html"), ("x-robots-tag", "bot: none"))
    answer = Answer(request=Request("http://a/"), url="http://a/", started=0.0, headers=headers)
    assert answer.header("x-robots-tag") == "noindex"
    assert answer.all_headers("x-robots-tag") == ["noindex", "bot: none"]
    assert answer.header("etag") is None
    assert answer.content_type == "text/html"


def test_a_request_is_a_key_whatever_its_tag_is() -> None:
    first, second = Request("http://a/", tag=[]), Request("http://a/", tag=[])
    assert len({first, second}) == 2
