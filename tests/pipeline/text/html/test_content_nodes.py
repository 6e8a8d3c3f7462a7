from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.text.html.content_nodes import boilerplate_nodes
from crawlctl.pipeline.text.html.html import parse_html

PROSE = "What is ambiguous is content, and a page that has some text keeps some of it. " * 3


@pytest.mark.parametrize(
    "html",
    [
        f"<nav><a href=a>Menu</a></nav><div><p>{PROSE}</p><p hidden>no</p></div><footer>End</footer>",
        f"<p>before</p><div>beside<main><p>{PROSE}</p><div class=share>Tell</div></main></div>after",
        f"<body><p>{PROSE}</p>",
        "",
    ],
)
def test_what_is_left_of_the_tree_is_the_text_of_the_page(html: str) -> None:
    tree = LexborHTMLParser(html)
    for node in boilerplate_nodes(tree):
        node.decompose()
    left = tree.body.text(separator=" ") if tree.body else ""
    assert left.split() == parse_html(html, "http://example.com/", ParseSettings()).text.split()


def test_the_title_before_the_main_block_is_left() -> None:
    html = f"<div><h1>Title</h1></div><p>no</p><main><p>{PROSE}</p></main>"
    found = boilerplate_nodes(LexborHTMLParser(html))
    assert [node.tag for node in found] == ["head", "p"] or [node.tag for node in found] == ["p"]


def test_nodes_that_the_caller_removes_are_not_judged() -> None:
    html = f"<div id=x><p>{PROSE}</p></div><div><p>{PROSE}</p></div>"
    tree = LexborHTMLParser(html)
    removed = tree.css("#x")
    assert [node.id for node in boilerplate_nodes(tree, removed)] == ["x"]


def test_repeated_blocks_are_among_them_as_they_are_for_the_index() -> None:
    html = f"<body><div><p>A slogan of all pages</p></div><p>{PROSE}</p>"
    blocks = parse_html(html, "http://example.com/", ParseSettings()).blocks
    shorter = parse_html(html, "http://example.com/", ParseSettings(), repeated=blocks).text
    tree = LexborHTMLParser(html)
    for node in boilerplate_nodes(tree, repeated=blocks):
        node.decompose()
    assert tree.body is not None
    assert tree.body.text(separator=" ").split() == shorter.split() == PROSE.split()
