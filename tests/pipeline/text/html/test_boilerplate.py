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


@pytest.mark.parametrize("name", ["prev-next-area", "previousNext", "nav-links"])
def test_links_to_the_pages_before_and_behind_are_no_text_within_the_content(read: Read, name: str) -> None:
    links = "<a href=a><p>previous</p><p>Prices</p></a><a href=b><p>next</p><p>Terms</p></a>"
    assert read(f"<main><p>{PROSE}</p><div class={name}>{links}</div></main>").text == PROSE.strip()


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
        f"<div class=next-steps><p>{PROSE}</p></div>",
        f"<div class=prev-next-permutation><p>{PROSE}</p></div>",
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


def _said(word: str, times: int) -> str:
    """Return a paragraph of several sentences about a word."""
    return "<p>" + f"A sentence about {word} is long enough to be prose. " * times + "</p>"


@pytest.mark.parametrize(
    "comments",
    [
        "<div class=comments id=comments><article class=comment-body>"
        "<div class='comment-content entry-content'>{0}</div></article></div>",
        "<section id=comments><article class='comment even depth-1'>{0}</article></section>",
        "<ol class=replies><li><article>{0}</article></ol>",
        "<section id=reviews><div itemprop=articleBody>{0}</div></section>",
    ],
)
@pytest.mark.parametrize("page", ["<main>{0}{1}</main>", "{0}{1}", "<div>{0}</div>{1}"])
def test_a_comment_never_stands_for_the_post(read: Read, page: str, comments: str) -> None:
    post, comment = _said("pruning", 3), comments.format(_said("thanks", 5))
    assert "pruning" in read(page.format(f"<div class=post>{post}</div>", comment)).text
    article = f"<article class='post-7 post'><div class=entry-content>{post}</div></article>"
    text = read(page.format(article, comment)).text
    assert "pruning" in text
    assert "thanks" not in text


def test_a_discussion_is_content_if_the_post_is_a_line(read: Read) -> None:
    replies = "".join(f"<article class=comment>{_said(word, 4)}</article>" for word in ("north", "south"))
    text = read(f"<div class=story-text>{_said('maps', 1)}</div><div class=comments>{replies}</div>").text
    assert all(word in text for word in ("maps", "north", "south"))


@pytest.mark.parametrize(
    "classes",
    [
        ("post-11 post type-post category-news", "post-12 post type-post", "post-13 post type-post tag-tea"),
        ("message message-threadStarterPost message--post js-post", "message message--post js-post", ""),
        ("post-card tag-red featured-0", "post-card tag-green featured-1", "post-card tag-blue featured-2"),
    ],
)
def test_entries_of_a_list_are_all_content_though_each_has_classes_of_its_own(
    read: Read, classes: tuple[str, ...]
) -> None:
    words = ("apples", "pears", "plums")
    entries = [
        f"<article class='{names or classes[1]}'>{_said(word, size)}</article>"
        for names, word, size in zip(classes, words, (8, 4, 3), strict=True)
    ]
    for page in ("<main>{}</main>", "<div>{}</div>"):
        text = read(page.format("".join(entries))).text
        assert all(word in text for word in words)


def test_teasers_with_the_classes_of_a_post_are_no_list(read: Read) -> None:
    post = f"<article class='post-1 post hentry tag-tea'>{_said('tea', 20)}</article>"
    teasers = f"<article class='post-2 post hentry'>{_said('coffee', 1)}</article>"
    assert "coffee" not in read(f"<main>{post}{teasers}</main>").text


def test_an_article_with_less_than_half_of_main_is_a_part_of_it(read: Read) -> None:
    sections = "".join(f"<section>{_said(word, 3)}</section>" for word in ("rockets", "fuel"))
    text = read(f"<main>{sections}<article class=quote>{_said('thanks', 3)}</article></main>").text
    assert all(word in text for word in ("rockets", "fuel", "thanks"))


@pytest.mark.parametrize(
    "header",
    [
        "<section><header><h2>Chapter</h2><p>A lead.</p></header>{0}</section>",
        f"<header><h1>Chapter</h1><p>Ada</p>{_said('a lead.', 2)}</header>{{0}}",
    ],
)
def test_a_header_with_words_of_the_content_is_content(read: Read, header: str) -> None:
    page = read(f"<header><a href=/>Site</a>{MENU}</header>{header.format(_said('engines', 5))}")
    assert "lead." in page.text
    assert page.headings == ("Chapter",)
    assert "Site" not in page.text


def test_a_form_around_a_product_is_content(read: Read) -> None:
    reviews = f"<div id=reviews>{_said('opinions', 20)}</div>"
    text = read(f"<form><h1>Widget</h1><p>$49.99</p><select><option>Small</select></form>{reviews}").text
    assert text.startswith("Widget\n$49.99")
    assert "widgets" in read(f"<form>{_said('widgets', 3)}<button>Buy</button></form>{reviews}").text
    assert "letters" not in read(f"<form class=newsletter>{_said('letters', 3)}</form>{reviews}").text


@pytest.mark.parametrize(
    "attributes",
    [
        "class=chapter-level-extent id=Cookies",
        "class=chapter-level-extent id=Comments",
        "class=chapter id=features.cookies",
        "id=feedback",
        "id=credits",
    ],
)
def test_an_id_made_from_a_heading_drops_no_prose(read: Read, attributes: str) -> None:
    text = read(
        f"<div>{_said('usage', 9)}</div><div {attributes}><h2>Part</h2>{_said('parts', 3)}</div>"
    ).text
    assert "parts" in text
    assert "Part\n" in text


def test_an_id_of_comments_drops_their_prose(read: Read) -> None:
    assert (
        "thanks"
        not in read(f"<div>{_said('usage', 9)}</div><div id=comments>{_said('thanks', 3)}</div>").text
    )


@pytest.mark.parametrize("name", ["example", "key-point", "success", "objective", "info", "notice"])
def test_an_aside_with_the_name_of_a_part_of_the_text_is_content(read: Read, name: str) -> None:
    aside = f"<aside class={name}>{_said('hints', 1)}</aside>"
    assert "hints" in read(f"<section>{_said('usage', 5)}{aside}</section>").text


def test_a_button_in_a_heading_among_the_prose_is_content(read: Read) -> None:
    entries = "".join(
        f"<div><h2><button>Question {number}?</button></h2>{_said('answers', 2)}<button>Copy</button></div>"
        for number in (1, 2)
    )
    text = read(f"<h3><button>Open the menu</button></h3><div><h1>Questions</h1>{entries}</div>").text
    assert text.startswith("Questions\nQuestion 1?\nA sentence about answers")
    assert "\nQuestion 2?\n" in text
    assert "Copy" not in text


def test_a_main_block_without_prose_needs_its_share_of_the_text(read: Read) -> None:
    rows = "".join(f"<tr><td>pkg{number}<td>1.{number}" for number in range(40))
    assert (
        "pkg39" in read(f"<div role=main><h1>Software downloads archive</h1></div><table>{rows}</table>").text
    )
    text = read(f"<main><h1>Downloads</h1><table>{rows}</table></main><p>Made by hand in 2020</p>").text
    assert text.endswith("1.39")


@pytest.mark.parametrize("names", ["", " class=blockquote-footer"])
def test_the_author_of_a_quotation_is_content(read: Read, names: str) -> None:
    quotation = f"<blockquote>{_said('notes', 1)}<footer{names}>Ada Lovelace</footer></blockquote>"
    assert "Ada Lovelace" in read(f"{_said('engines', 5)}{quotation}<footer>The end</footer>").text


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
