from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.text.documents.page import Link
from crawlctl.pipeline.text.html import page_links
from crawlctl.pipeline.text.html.page_links import LinkResolver, WrittenLink
from crawlctl.pipeline.urls.canonical import canonical_link

PAGE = "http://example.com/a/b.html?q=1"


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("c.html", "http://example.com/a/c.html"),
        ("/c", "http://example.com/c"),
        ("//other.org", "http://other.org/"),
        ("?x=2", "http://example.com/a/b.html?x=2"),
        ("", PAGE),
        ("http:?x", "http://example.com/a/b.html?x"),
        ("https://EXAMPLE.com:443/%7Eme#f", "https://example.com/~me"),
        ("javascript:alert(1)", ""),
        ("mailto:a@b.c", ""),
        ("#top", ""),
        ("http://user:pw@example.com/", ""),
        ("http://[broken", ""),
        ("ftp://example.com/", ""),
        ("\tc.html\n", "http://example.com/a/c.html"),
    ],
)
def test_a_link_is_resolved_on_its_page(href: str, url: str) -> None:
    assert LinkResolver(PAGE).url_of(href) == url


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("/root/", "http://example.com/root/x"),
        ("http://other.org/dir/page", "http://other.org/dir/x"),
        ("sub/", "http://example.com/a/sub/x"),
        ("javascript:1", "http://example.com/a/x"),
        (" ", "http://example.com/a/x"),
    ],
)
def test_the_base_element_is_honoured_if_usable(base: str, url: str) -> None:
    assert LinkResolver(PAGE, base).url_of("x") == url


def test_each_url_comes_once_with_the_first_text_it_has() -> None:
    written = [
        WrittenLink("x"),
        WrittenLink("/a/x", "first"),
        WrittenLink("x#part", "second"),
        WrittenLink("y", "other"),
    ]
    assert LinkResolver(PAGE).links(written, 10) == (
        Link("http://example.com/a/x", "first"),
        Link("http://example.com/a/y", "other"),
    )


def test_a_url_is_nofollow_only_if_all_its_links_are() -> None:
    both = [WrittenLink("x", "a", "nofollow noopener"), WrittenLink("x", "a", "nofollow")]
    assert LinkResolver(PAGE).links(both, 10) == (Link("http://example.com/a/x", "a", "nofollow"),)
    one = [*both, WrittenLink("x", "a")]
    assert not LinkResolver(PAGE).links(one, 10)[0].nofollow


@pytest.mark.parametrize(
    ("rel", "expected"), [("nofollow", True), ("noopener ugc", True), ("next", False), ("", False)]
)
def test_sponsored_and_user_links_are_not_vouched_for(rel: str, expected: bool) -> None:
    assert Link("http://a/", rel=rel).nofollow is expected


def test_a_link_to_the_page_itself_is_left_out() -> None:
    assert LinkResolver(PAGE).links([WrittenLink(""), WrittenLink("#a"), WrittenLink(PAGE)], 10) == ()


def test_no_more_urls_than_allowed_are_kept() -> None:
    written = [WrittenLink(f"p{number % 7}") for number in range(100)]
    assert len(LinkResolver(PAGE).links(written, 5)) == 5


def test_parameters_the_operator_named_are_stripped() -> None:
    assert LinkResolver(PAGE, strip=("utm_*",)).url_of("x?utm_source=a&b=1") == "http://example.com/a/x?b=1"


def test_canonical_links_must_agree() -> None:
    resolver = LinkResolver(PAGE)
    assert resolver.only(["/c", "http://example.com/c#x", "mailto:x"]) == "http://example.com/c"
    assert resolver.only(["/c", "/d"]) == ""
    assert resolver.only([]) == ""


@given(
    st.text("ab/.?#:=&%~ \t\n\\@", max_size=12),
    st.sampled_from(["", "http:", "https:", "HTTP:", "http:/", "https://h", "//", "javascript:"]),
    st.sampled_from([PAGE, "http://h/", "http://h/x/y/", "https://h/a?b=/c/d", "http://h:8080/a/b/../c"]),
)
def test_what_is_remembered_for_a_folder_is_what_the_link_means(rest: str, scheme: str, page: str) -> None:
    href = scheme + rest
    try:
        expected = canonical_link(page, href)
    except UrlError:
        expected = ""
    found = LinkResolver(page).url_of(href)
    assert found == expected or href.startswith("#")


def test_the_links_of_all_folders_are_forgotten_when_they_take_too_much_memory() -> None:
    folders = page_links._Folders()
    known = folders.folder("http://example.com/a/", ())
    assert folders.folder("http://example.com/a/", ()) is known
    folders.charge("b" * page_links._REMEMBERED_BYTES, "http://example.com/a/b")
    forgotten = folders.folder("http://example.com/a/", ())
    assert forgotten is not known
    assert folders.folder("http://example.com/a/", ()) is forgotten
