from __future__ import annotations

import pytest

from crawlctl.pipeline.text.html.xhtml import as_html


@pytest.mark.parametrize(
    ("xhtml", "html"),
    [
        ('<script src="a>b"/>', '<script src="a>b"></script>'),
        ("<title/><p>t</p>", "<title></title><p>t</p>"),
        ("<a name='x' />", "<a name='x' ></a>"),
        ("<br/><img src='a' /><META x='y'/>", "<br/><img src='a' /><META x='y'/>"),
        ("<a href=x/>", "<a href=x></a>"),
        ("<p>a / b > c</p>", "<p>a / b > c</p>"),
        ("<![CDATA[a < b & c]]>", "a &lt; b &amp; c"),
        ("<svg:path d='M0'/>", "<svg:path d='M0'></svg:path>"),
    ],
)
def test_empty_elements_are_closed_and_sections_escaped(xhtml: str, html: str) -> None:
    assert as_html(xhtml) == html


@pytest.mark.parametrize("piece", ["<a '", '<a b="', "<a ", "<a", "<a/ ", '<a b="c" '])
def test_what_is_never_closed_is_left_as_it_is(piece: str) -> None:
    assert as_html(piece * 20_000) == piece * 20_000


def test_a_section_that_is_never_closed_lasts_to_the_end() -> None:
    assert as_html("<![CDATA[<" * 20_000) == "&lt;" + "&lt;![CDATA[&lt;" * 19_999


@pytest.mark.parametrize("letter", ["a", "ㄭ", "-1"])
def test_a_name_that_never_ends_is_left_as_it_is(letter: str) -> None:
    assert as_html("<a" + letter * 200_000) == "<a" + letter * 200_000
