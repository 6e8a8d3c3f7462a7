"""Which blocks of a page are compared with those of other pages, and which are left out as repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.text.documents.document import FetchedDocument, ParseRules, parse_document
from crawlctl.pipeline.text.html.html import parse_html
from crawlctl.pipeline.text.repeated.page_blocks import HASH_BYTES, MAX_BLOCKS

if TYPE_CHECKING:
    from crawlctl.pipeline.text.documents.page import Page

URL = "http://a.example/"
SLOGAN = "Small. Fast. Reliable. Choose any three of these."
IMPRINT = "Made by Acme of Springfield, since 1891, with love."
OWN = "This page tells its own story, which no other page of the host tells in these words. " * 4


def page(html: str, repeated: bytes = b"") -> Page:
    return parse_html(html, URL, ParseSettings(), repeated=repeated)


def blocks(html: str) -> bytes:
    return page(html).blocks


def layout(own: str) -> str:
    return f"<div><p>{SLOGAN}</p></div><h1>Title</h1><p>{own}</p><div><p>{IMPRINT}</p></div>"


REPEATED = blocks(layout(OWN))


def test_blocks_at_both_edges_are_left_out_if_they_are_repeated() -> None:
    other = OWN.replace("story", "tale").strip()
    assert page(layout(other)).text == "\n".join([SLOGAN, "Title", other, IMPRINT])
    found = page(layout(other), REPEATED)
    assert (found.text, found.headings) == (f"Title\n{other}", ("Title",))
    assert found.details.repeated == len(SLOGAN) + len(IMPRINT) + 2


def test_a_block_with_other_words_or_at_another_place_of_the_tree_is_another_block() -> None:
    other = layout(OWN).replace("Fast.", "Slow.").replace(f"<div><p>{IMPRINT}</p></div>", "")
    moved = layout(OWN).replace("<div>", "<section><div>").replace("</div>", "</div></section>")
    for html in (other, moved):
        assert page(html, REPEATED).text == page(html).text


def test_a_repeated_block_among_the_words_of_the_page_stays() -> None:
    note = f"<div><p>{SLOGAN}</p></div>"
    html = f"<p>{OWN}</p>{note}<p>{OWN}</p>"
    assert page(html, blocks(layout(OWN))).text == page(html).text
    byline = f"<p>by A. Author</p>{note}<p>{OWN}</p>"
    assert page(byline, REPEATED).text == f"by A. Author\n{OWN.strip()}"


def test_a_page_of_which_half_is_repeated_keeps_all_of_it() -> None:
    short = "Few words of its own, fewer than those around it."
    found = page(layout(short), REPEATED)
    assert found.text == page(layout(short)).text
    assert found.details.repeated == 0
    licence = f"<div><p>{OWN}</p></div>"
    assert page(licence, blocks(licence)).text == OWN.strip()


def test_a_heading_of_the_first_level_is_never_left_out() -> None:
    html = f"<div><h1>The title of all pages</h1><p>{SLOGAN}</p></div><p>{OWN}</p>"
    assert page(html, blocks(html)).text == page(html).text


def test_a_definition_is_content_however_many_pages_have_it() -> None:
    terms = f"<p>{OWN}</p><dl><dt>deep</dt><dd><div>{SLOGAN}</div></dd></dl>"
    assert blocks(terms) == b""


def test_links_of_a_repeated_block_are_those_of_boilerplate() -> None:
    html = layout(OWN).replace(SLOGAN, f"{SLOGAN} <a href=/about>About</a>")
    assert [link.boilerplate for link in page(html).links] == [False]
    assert [link.boilerplate for link in page(html, blocks(html)).links] == [True]


def test_what_is_boilerplate_already_is_not_compared() -> None:
    with_menu = layout(OWN).replace(SLOGAN, f"{SLOGAN}<nav>a menu that differs from page to page</nav>")
    assert blocks(with_menu) == REPEATED
    assert page(with_menu, REPEATED).text == f"Title\n{OWN.strip()}"


def test_a_page_does_not_count_as_changed_because_more_blocks_are_known() -> None:
    document = FetchedDocument(URL, layout(OWN).encode(), "text/html")
    before = parse_document(document, ParseRules())
    after = parse_document(replace(document, repeated=REPEATED), ParseRules())
    assert (after.signature, after.sketch) == (before.signature, before.sketch)
    assert after.page.text != before.page.text
    assert after.page.whole == before.page.whole == ""


def test_the_setting_switches_it_off() -> None:
    off = ParseSettings(drop_repeated=False)
    found = parse_html(layout(OWN), URL, off, repeated=REPEATED)
    assert (found.text, found.blocks) == (page(layout(OWN)).text, b"")


def test_the_user_has_the_last_word_on_what_is_content() -> None:
    found = parse_html(layout(OWN), URL, ParseSettings(), repeated=REPEATED, is_content=True)
    assert found.text == page(layout(OWN)).text


@pytest.mark.parametrize("count", [0, 1, 200])
def test_the_number_of_blocks_is_bounded_and_each_stands_once(count: int) -> None:
    html = "".join(f"<div><p>Block number {number} of a long page</p></div>" for number in range(count))
    found = blocks(f"<body>{html}{html}<p>{OWN}</p>")
    cut = [found[at : at + HASH_BYTES] for at in range(0, len(found), HASH_BYTES)]
    assert len(cut) <= MAX_BLOCKS
    assert cut == sorted(set(cut))
    assert bool(cut) == bool(count)


def test_a_long_block_and_a_deep_tree_cost_little() -> None:
    long = f"<div>{OWN * 100}</div><p>{OWN * 400}</p>"
    assert blocks(long) == b""
    one, other = ("<div>" * depth + f"<p>{SLOGAN}</p>" + "</div>" * depth for depth in (100, 200))
    assert blocks(f"{one}<p>{OWN}</p>") != b""
    assert len(blocks(f"{other}<p>{OWN}</p>")) == HASH_BYTES


TAGS = st.sampled_from(("div", "p", "ul", "td", "dl", "section", "h1", "h2", "nav", "article", "a"))
TREES = st.recursive(
    st.text("ab <&", max_size=60),
    lambda inner: st.tuples(TAGS, st.lists(inner, max_size=4)).map(
        lambda made: f"<{made[0]}>{''.join(made[1])}</{made[0]}>"
    ),
    max_leaves=30,
)


@given(TREES, st.integers(0, 7))
def test_a_page_loses_lines_alone_and_less_than_half_of_its_text(html: str, step: int) -> None:
    known = page(html)
    hashes = [known.blocks[at : at + HASH_BYTES] for at in range(0, len(known.blocks), HASH_BYTES)]
    found = page(html, b"".join(hashes[:: step + 1]))
    assert len(found.text) >= len(known.text) // 2 - 1
    assert (found.blocks, found.title) == (known.blocks, known.title)
    left = iter(known.text.split())
    assert all(word in left for word in found.text.split())
