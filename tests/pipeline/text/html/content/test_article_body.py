from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.text.html.content_nodes import boilerplate_nodes
from crawlctl.pipeline.text.html.html import parse_html
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.text.documents.page import Page

    Read = Callable[..., Page]

ARTICLE = "<meta property=og:type content=article>"


def _said(word: str, times: int) -> str:
    """Return a paragraph of several sentences about a word."""
    return "<p>" + f"A sentence about {word} is long enough to be prose. " * times + "</p>"


BODY = _said("rivers", 5) + _said("bridges", 5)
LEAD = "<h1>Rivers</h1><div class=by>Ada Lovelace</div><p>18 November 2026</p>"


def test_the_title_and_what_stands_below_it_are_no_text_but_the_title_is_a_heading(read: Read) -> None:
    page = read(f"{ARTICLE}<div>{LEAD}{BODY}</div>")
    assert page.text.startswith("A sentence about rivers")
    assert page.headings == ("Rivers",)
    assert read(f"<div>{LEAD}{BODY}</div>").text.startswith("Rivers\nAda Lovelace\n18 November 2026\n")


@pytest.mark.parametrize(
    "aside",
    [
        f"<div class=box>{_said('weather', 2)}</div>",
        f"<div class=comments>{_said('thanks', 30)}</div>",
        "<ul><li><a href=a>Ten bridges that fell</a><li><a href=b>More of rivers</a></ul>",
    ],
)
def test_what_lies_outside_of_the_body_is_no_text(read: Read, aside: str) -> None:
    text = read(f"{ARTICLE}<div>{LEAD}<div>{BODY}</div>{aside}</div>").text
    assert text == read(f"<div>{BODY}</div>").text


@pytest.mark.parametrize(
    "aside",
    [
        "<div><a href=a>Read about ten bridges that fell</a></div>",
        "<figure><img><figcaption>The bridge of the town, seen from the church, in May</figcaption></figure>",
        "<div class=image-caption>The bridge</div>",
        "<div class=photo-credit>Ada Lovelace</div>",
    ],
)
def test_links_and_captions_among_the_paragraphs_of_an_article_are_no_text(read: Read, aside: str) -> None:
    page = f"<div>{_said('rivers', 5)}{aside}{_said('bridges', 5)}</div>"
    assert read(ARTICLE + page).text == read(f"<div>{BODY}</div>").text
    words = LexborHTMLParser(aside).text().split()
    assert words[-1] in read(page).text  # of other pages they are content


def test_short_lines_among_the_paragraphs_and_lists_after_them_are_text(read: Read) -> None:
    parts = f"{_said('rivers', 5)}<h2>Bridges</h2><p>No.</p>{_said('bridges', 5)}<ul><li>Stone<li>Wood</ul>"
    page = read(f"{ARTICLE}<div>{LEAD}{parts}<div>Topics</div></div>")
    assert "\nBridges\nNo.\n" in page.text
    assert page.text.endswith("\nStone\nWood")
    assert page.headings == ("Rivers", "Bridges")


def test_a_table_before_the_first_paragraph_is_text(read: Read) -> None:
    table = "<table><tr><td>Flour<td>500 g<tr><td>Water<td>300 g</table>"
    assert read(f"{ARTICLE}<div>{LEAD}{table}{BODY}</div>").text.startswith(
        "Flour 500 g\nWater 300 g\nA sent"
    )


def test_the_first_paragraph_may_begin_with_a_link(read: Read) -> None:
    page = read(
        f"{ARTICLE}<div>{LEAD}<p><a href=x>London</a> has a river, and many old bridges of stone.</p>{BODY}"
    )
    assert page.text.startswith("London has a river")


def test_an_article_of_captions_keeps_them(read: Read) -> None:
    pictures = "".join(
        f"<figure><img><figcaption>{_said(word, 3)}</figcaption></figure>"
        for word in ("north", "south", "east", "west", "home")
    )
    text = read(f"{ARTICLE}<div>{LEAD}{pictures}</div>").text
    assert all(word in text for word in ("north", "south", "east", "west", "home"))


def test_a_page_with_a_line_of_prose_is_no_article_whatever_it_says(read: Read) -> None:
    page = f"<div><h1>Contact</h1><p>Street 1</p>{_said('bridges', 3)}</div>"
    assert read(ARTICLE + page).text == read(page).text


def test_comments_are_text_if_the_article_is_a_line(read: Read) -> None:
    text = read(f"{ARTICLE}<div>{_said('maps', 1)}</div><div class=comments>{_said('north', 9)}</div>").text
    assert "maps" in text
    assert "north" in text


def test_the_nodes_of_an_article_have_its_title_and_its_text() -> None:
    html = f"{ARTICLE}<div>{LEAD}<div>{BODY}</div><div class=box>{_said('weather', 2)}</div></div>"
    tree = LexborHTMLParser(html)
    for node in boilerplate_nodes(tree):
        node.decompose()
    left = tree.body.text(separator=" ").split() if tree.body else []
    page = parse_html(html, "http://example.com/", ParseSettings())
    assert left == ["Rivers", *page.text.split()]


_parts = st.sampled_from(
    [
        "<div class=share>Share this</div>",
        "<div class=caption>A bridge</div>",
        "<div><a href=x>Other news of the day</a></div>",
        f"<div class=comments>{_said('thanks', 3)}</div>",
        f"<aside>{_said('weather', 1)}</aside>",
        "<h2>Head</h2>",
        "<div>",
        "</div>",
        "words ",
    ]
)


@given(st.lists(_parts, max_size=8), st.lists(_parts, max_size=8))
@settings(max_examples=examples(60))
def test_no_sentence_of_an_article_in_one_block_is_lost(before: list[str], after: list[str]) -> None:
    body = "<div>" + _said("rivers", 20) + _said("bridges", 20) + "</div>"
    html = f"{ARTICLE}<body>{''.join(before)}{body}{''.join(after)}"
    page = parse_html(html, "http://example.com/", ParseSettings())
    assert page.text.count("A sentence about rivers") == 20
    assert page.text.count("A sentence about bridges") == 20
    for section in page.details.sections:
        assert page.text[section.offset :].startswith(section.title)
