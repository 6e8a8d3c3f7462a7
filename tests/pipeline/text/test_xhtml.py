from __future__ import annotations

import pytest

from crawlctl.pipeline.text.xhtml import as_html


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


@pytest.mark.parametrize("piece", ["<a '", '<a b="', "<a ", "<![CDATA[", "<a/ "])
def test_hostile_repetition_is_left_in_bounded_time(piece: str) -> None:
    assert as_html(piece * 3000) == piece * 3000
