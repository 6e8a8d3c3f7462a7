from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.text.documents.page import Directives, Link
from crawlctl.pipeline.text.documents.salvage import MAX_CHARACTERS, MAX_ELEMENTS, salvage_html

URL = "http://example.com/dir/page.html"


def test_tags_say_title_links_directives_and_text() -> None:
    html = (
        "<title>A &amp; b</title><base href=/r/><meta name=robots content=noindex><script>no</script>"
        "<div><p>one &lt; two<a href=x rel='nofollow ugc'>the <b>link</b></a><!-- no -->"
        "<iframe src=f></iframe>"
    )
    page = salvage_html(html, URL, ParseSettings())
    assert page.title == "A & b"
    assert page.text == "one < two\nthe\nlink"
    assert page.links == (
        Link("http://example.com/r/x", "the link", "nofollow ugc"),
        Link("http://example.com/r/f"),
    )
    assert page.directives == Directives(noindex=True)
    assert page.truncated


def test_a_hundred_thousand_nested_elements_give_up_their_links() -> None:
    page = salvage_html("<title>t</title>" + "<div>" * 100_000 + "<a href=/x>y</a>", URL, ParseSettings())
    assert (page.title, page.text, page.links) == ("t", "y", (Link("http://example.com/x", "y"),))


@pytest.mark.parametrize("piece", ["<script>", "<!--", "<title>", "<"])
def test_what_is_never_closed_is_left_in_bounded_time(piece: str) -> None:
    assert salvage_html("seen" + piece * 2000, URL, ParseSettings()).text.startswith("seen")


def test_only_the_beginning_is_looked_at() -> None:
    page = salvage_html("x" * MAX_CHARACTERS + "<a href=/late>y</a>", URL, ParseSettings())
    assert page.links == ()


def test_of_many_links_the_first_are_taken_and_the_text_of_all() -> None:
    links = "".join(f"<a href=/{number}>{number}</a>\n" for number in range(MAX_ELEMENTS + 2))
    page = salvage_html(links, URL, ParseSettings())
    assert len(page.links) == MAX_ELEMENTS
    assert page.text.endswith(f"\n{MAX_ELEMENTS + 1}")


@settings(deadline=None)
@given(st.text("<>/ab='\"!-?&;#\0\n", max_size=80))
def test_whatever_is_written_is_read(html: str) -> None:
    assert salvage_html(html, URL, ParseSettings()).truncated


@pytest.mark.parametrize("section", ["<![CDATA[x]]>", "<![nonsense[x>", "<![if IE]>", "<![>"])
def test_marked_sections_are_passed_over(section: str) -> None:
    page = salvage_html(f"{section}<a href=/x>y</a>", URL, ParseSettings())
    assert page.links == (Link("http://example.com/x", "y"),)
