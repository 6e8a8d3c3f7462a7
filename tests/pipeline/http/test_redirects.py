from __future__ import annotations

import pytest

from crawlctl.pipeline.http.exchange import ErrorKind
from crawlctl.pipeline.http.redirects import checked_url, redirect_of

PAGE = "http://example.com/docs/page?a=1"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("other", "http://example.com/docs/other"),
        ("/", "http://example.com/"),
        ("?b=2", "http://example.com/docs/page?b=2"),
        ("//other.example/x", "http://other.example/x"),
        ("HTTPS://Other.example:443/%7euser#top", "https://other.example/~user"),
        ("/ü b", "http://example.com/%C3%BC%20b"),
        ("http:\\\\other.example\\x", "http://other.example/x"),
        ("", PAGE),
    ],
)
@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_location_is_read_like_a_link_on_the_page(status: int, location: str, target: str) -> None:
    assert redirect_of(PAGE, status, [("location", location)]) == (target, None)


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("file:///etc/passwd", ErrorKind.UNSUPPORTED_SCHEME),
        ("FILE:///etc/passwd", ErrorKind.UNSUPPORTED_SCHEME),
        ("javascript:alert(1)", ErrorKind.UNSUPPORTED_SCHEME),
        ("gopher://127.0.0.1:25/", ErrorKind.UNSUPPORTED_SCHEME),
        ("http://user:secret@example.com/", ErrorKind.BAD_URL),
        ("http://exa mple.com/", ErrorKind.BAD_URL),
        ("http://a.example/" + "x" * 5000, ErrorKind.BAD_URL),
    ],
)
def test_a_location_that_cannot_be_followed_is_an_error(location: str, kind: ErrorKind) -> None:
    target, error = redirect_of(PAGE, 302, [("location", location)])
    assert target is None
    assert error is not None
    assert error.kind is kind


@pytest.mark.parametrize("status", [200, 201, 304, 305, 404])
def test_other_answers_do_not_redirect(status: int) -> None:
    assert redirect_of(PAGE, status, [("location", "/other")]) == (None, None)


def test_only_a_list_of_choices_needs_no_location() -> None:
    assert redirect_of(PAGE, 300, []) == (None, None)
    _, error = redirect_of(PAGE, 301, [])
    assert error is not None
    assert error.kind is ErrorKind.BAD_RESPONSE


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("HTTP://Example.com", None),
        ("file:///etc/passwd", ErrorKind.UNSUPPORTED_SCHEME),
        ("example.com", ErrorKind.BAD_URL),
        ("http://user@example.com/", ErrorKind.BAD_URL),
        ("http://0x7f.0.0.0.1/", ErrorKind.BAD_URL),
    ],
)
def test_a_url_is_checked_before_it_is_asked_for(url: str, kind: ErrorKind | None) -> None:
    checked, error = checked_url(url)
    assert checked == ("http://example.com/" if kind is None else url)
    assert (error.kind if error else None) is kind
