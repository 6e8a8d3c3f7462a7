from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.text.documents.page import Directives
from crawlctl.pipeline.text.html.directives import meta_robots, refresh_of, robots_tags


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("robots", "noindex", Directives(noindex=True)),
        ("ROBOTS", " NoFollow ,noarchive", Directives(nofollow=True)),
        ("robots", "none", Directives(noindex=True, nofollow=True)),
        ("crawlctl", "noindex", Directives(noindex=True)),
        ("googlebot", "noindex", Directives()),
        ("robots", "index, follow, max-snippet:-1", Directives()),
        ("description", "noindex", Directives()),
    ],
)
def test_meta_robots_speaks_to_everyone_or_to_us(name: str, content: str, expected: Directives) -> None:
    assert meta_robots(name, content) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["noindex, nofollow"], Directives(noindex=True, nofollow=True)),
        (["otherbot: noindex"], Directives()),
        (["crawlctl: noindex, noarchive"], Directives(noindex=True)),
        (["otherbot: noindex", "nofollow"], Directives(nofollow=True)),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], Directives(noindex=True)),
        (["noarchive, unavailable_after: 25 Jun 2010"], Directives()),
        (["max-snippet: 5, none"], Directives(noindex=True, nofollow=True)),
        (["robots: noindex"], Directives(noindex=True)),
        ([], Directives()),
    ],
)
def test_the_header_speaks_to_everyone_or_to_a_named_robot(values: list[str], expected: Directives) -> None:
    assert robots_tags(values) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0; url=/next", (0, "/next")),
        ("5;URL='a b'", (5, "a b")),
        ('3, "/quoted" ignored', (3, "/quoted")),
        ("1.7;url=x", (1, "x")),
        (".5; url=x", (0, "x")),
        (" 2 ;  url = y ", (2, "y ")),
        ("0;/bare", (0, "/bare")),
        ("0 /bare", (0, "/bare")),
        ("0;url=url=odd", (0, "url=odd")),
        ("10", None),
        ("0;", None),
        ("0; url=", None),
        ("; url=x", None),
        ("soon; url=x", None),
        ("", None),
    ],
)
def test_a_refresh_is_read_as_browsers_do(content: str, expected: tuple[int, str] | None) -> None:
    assert refresh_of(content) == expected


def test_an_absurd_delay_is_cut() -> None:
    assert refresh_of("9" * 5000 + ";url=x") == (999_999_999, "x")


@given(st.text(max_size=60))
def test_whatever_is_written_is_read(text: str) -> None:
    refresh_of(text)
    robots_tags([text])
    meta_robots(text, text)
