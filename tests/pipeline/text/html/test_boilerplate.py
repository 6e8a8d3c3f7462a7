from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.text.html.html import parse_html
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.text.documents.page import Page

    Read = Callable[..., Page]

PROSE = "The walk visits every node of the page once, and it keeps what a reader would miss. " * 3
MENU = "<ul><li><a href=a>Start</a><li><a href=b>Prices</a><li><a href=c>Contact us</a></ul>"


@pytest.mark.parametrize(
    "boilerplate",
    [
        f"<nav>{MENU}</nav>",
        f"<div role=navigation>{MENU}</div>",
        f"<div role=banner><h1>Site</h1>{MENU}</div>",
        f"<header>{MENU}</header>",
        f"<footer><p>Company, {PROSE}</p></footer>",
        f"<aside>{MENU}</aside>",
        f"<div class=sidebar>{MENU}</div>",
        f"<div id=leftNav>{MENU}</div>",
        f"<div class=related-posts><p>{PROSE[:80]}</p></div>",
        "<div class='post-share-buttons'>Tell your friends</div>",
        f"<table><tr><td>{MENU}</table>",
        "<form><input><label>Your name</label></form>",
    ],
)
@pytest.mark.parametrize(
    "page", ["{0}<div><p>{1}</p></div>", "<main><p>{1}</p></main>{0}", "<div><p>{1}</p></div>{0}"]
)
def test_boilerplate_is_no_text_and_its_headings_are_none(read: Read, page: str, boilerplate: str) -> None:
    found = read(page.format(boilerplate, PROSE))
    assert found.text == PROSE.strip()
    assert found.headings == ()


@pytest.mark.parametrize(
    "content",
    [
        f"<section id=cookies><h2>Cookies</h2><p>{PROSE}</p></section>",
        f"<div class=section id=sharing><h2>Sharing</h2><p>{PROSE}</p></div>",
        f"<div class='admonition admonition-social'><p>{PROSE}</p></div>",
        f"<aside class='footnote brackets'><p>{PROSE}</p></aside>",
        f"<div class=sidebar><p>BACK TO BASICS</p><p>{PROSE}</p></div>",
        f"<form action=all.aspx><p>{PROSE * 4}</p></form>",
        f"<article class='hentry tag-review'><p>{PROSE}</p></article>",
        f"<div class=content-with-sidebar><p>{PROSE}</p></div>",
    ],
)
def test_what_only_looks_like_boilerplate_is_content(read: Read, content: str) -> None:
    assert PROSE.strip() in read(f"<p>{PROSE}{PROSE}</p>{content}").text
    assert PROSE.strip() in read(f"<main><p>First words.</p>{content}</main>").text


@pytest.mark.parametrize(
    "page",
    [
        f"<nav>{MENU}</nav>",
        f"<nav>{MENU}</nav><main></main>",
        f"<nav>{MENU}</nav><p>Loading …</p>",
        f"<div class=menu>{MENU}</div><div class=sidebar>{MENU}</div>",
        f"<h1>Index</h1><table><tr><td>{MENU}<td>{MENU}</table>",
    ],
)
def test_a_page_without_other_text_keeps_what_it_has(read: Read, page: str) -> None:
    assert "Contact us" in read(page).text


def test_a_page_of_links_keeps_them(read: Read) -> None:
    entries = "".join(f"<li><a href={number}>Chapter number {number}</a>" for number in range(40))
    text = read(f"<div><p>{PROSE[:160]}</p></div><div class=toc><ul>{entries}</ul></div>").text
    assert "Chapter number 39" in text
    text = read(f"<nav>{MENU}</nav><main><h1>Contents</h1><ul>{entries}</ul></main>").text
    assert text.startswith("Contents\nChapter number 0")


def test_a_main_block_says_what_the_content_is(read: Read) -> None:
    page = read(f"<h1>Title</h1><p>Aside of main.</p><main><h2>Part</h2><p>{PROSE}</p></main><p>End.</p>")
    assert page.text == f"Part\n{PROSE.strip()}"
    assert page.headings == ("Title", "Part")


def test_a_main_block_with_little_of_the_prose_is_not_believed(read: Read) -> None:
    assert PROSE.strip() in read(f"<main><p>A short teaser.</p></main><div><p>{PROSE}</p></div>").text


def test_posts_of_a_thread_are_all_content(read: Read) -> None:
    posts = "".join(f"<article class=post><p>{number} {PROSE}</p></article>" for number in (5, 1, 1))
    text = read(f"<main><article class=post><p>{PROSE * 9}</p></article>{posts}</main>").text
    assert text.count("The walk visits") == 9 * 3 + 3 * 3


def test_a_hidden_block_does_not_shift_what_is_dropped(read: Read) -> None:
    page = read(f"<div hidden><nav>{MENU}</nav><b>no</b><h2>no</h2></div><p>{PROSE}</p><footer>End</footer>")
    assert (page.text, page.headings, page.details.emphasised) == (PROSE.strip(), (), "")


def test_links_in_boilerplate_are_marked_unless_the_content_has_them_too(read: Read) -> None:
    page = read(f"<nav>{MENU}</nav><main><p>{PROSE} <a href=b>what it costs</a></p></main><a href=d>d</a>")
    assert [(link.url[-1], link.text, link.boilerplate) for link in page.links] == [
        ("a", "Start", True),
        ("b", "what it costs", False),
        ("c", "Contact us", True),
        ("d", "d", True),
    ]


_leaves = st.sampled_from(["words ", PROSE, "<a href=x>link</a>", "<h2>Head</h2>", "<b>bold</b>", "<br>"])
_tags = st.sampled_from(
    ["div", "nav", "main", "article", "ul", "section", "footer", "form", "td", "table", "b", "a href=y", "h3"]
)
_attributes = st.sampled_from(["", " class=sidebar", " id=related", " role=main", " hidden", " class=toc"])


def _element(parts: tuple[str, str, list[str]]) -> str:
    tag, attribute, children = parts
    return f"<{tag}{attribute}>{''.join(children)}</{tag.split()[0]}>"


_pages = st.recursive(
    _leaves,
    lambda inner: st.tuples(_tags, _attributes, st.lists(inner, max_size=4)).map(_element),
    max_leaves=25,
)


@given(_pages)
@settings(max_examples=examples(60))
def test_any_page_is_judged(html: str) -> None:
    page = parse_html(html, "http://example.com/", ParseSettings())
    for section in page.details.sections:
        assert " ".join(page.text[section.offset :].split()).startswith(section.title)


@given(_pages)
@settings(max_examples=examples(60))
def test_no_word_of_a_main_block_with_most_of_the_prose_is_lost(html: str) -> None:
    own = "<p>" + "Nothing of this sentence may ever be lost by anybody who reads it. " * 40 + "</p>"
    page = parse_html(f"{html}<main>{own}</main>", "http://example.com/", ParseSettings())
    assert page.text.count("Nothing of this sentence") == 40 or "hidden" in html or "<table" in html


@given(_pages)
@settings(max_examples=examples(60))
def test_links_do_not_depend_on_what_is_boilerplate(html: str) -> None:
    urls = {link.url for link in parse_html(html, "http://example.com/", ParseSettings()).links}
    assert urls == {f"http://example.com/{name}" for name in "xy" if f"href={name}" in html}
