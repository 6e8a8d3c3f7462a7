"""Marked texts as HTML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.search.answer.snippets import MarkedText
from crawlctl.pipeline.serve.html_pages import duration, marked, rendered
from crawlctl.pipeline.terminal.printable import blanked

texts = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("<>&\"'/ab"), min_size=1)


@given(texts, st.data())
def test_a_marked_text_shows_its_characters_and_has_no_element_but_mark(
    text: str, data: st.DataObject
) -> None:
    edges = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=4)))
    spans = tuple(zip(edges[::2], edges[1::2], strict=False))
    page = LexborHTMLParser(f"<p>{marked(MarkedText(text, spans))}</p>")
    paragraph = page.css_first("p")
    assert paragraph is not None
    assert paragraph.text() == blanked(text)
    assert [node.text() for node in page.css("mark")] == [blanked(text)[first:last] for first, last in spans]
    assert len(page.css("p *")) == len(spans)


def test_a_name_that_a_template_misses_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        rendered("problem.html")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.00004, "0.0 ms"),
        (0.00624, "6.2 ms"),
        (0.0124, "12 ms"),
        (0.161, "161 ms"),
        (1.234, "1.2 s"),
        (75, "75.0 s"),
    ],
)
def test_a_duration_is_shown_as_people_read_it(seconds: float, shown: str) -> None:
    assert duration(seconds).split("\N{NO-BREAK SPACE}") == shown.split()
