from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.text.documents.page import Page

    Read = Callable[..., Page]


@pytest.mark.parametrize(
    "html",
    [
        "<h2 id=one>One</h2>",
        "<section id=one><h2>One</h2></section>",
        "<div class=sect1 id=one><div class=titlepage><div><h2>One</h2></div></div></div>",
        "<h2><a name=one></a>One</h2>",
        "<h2><span class=mw-headline id=one>One</span></h2>",
        "<h2><span class=permalink><a href=#one></a></span>One</h2>",
    ],
)
def test_a_section_has_the_anchor_that_leads_to_it(read: Read, html: str) -> None:
    page = read(f"<p>Before it.</p>{html}<p>Words of the section.</p>")
    (section,) = page.details.sections
    assert (section.anchor, section.title) == ("one", "One")
    assert page.text[section.offset :] == "One\nWords of the section."


def test_an_anchor_leads_to_the_first_heading_only(read: Read) -> None:
    page = read("<div id=all><h2>One</h2>a<h2>Two</h2>b<h2 id=three>Three</h2></div>")
    assert [(each.anchor, each.title) for each in page.details.sections] == [
        ("all", "One"),
        ("three", "Three"),
    ]


def test_a_definition_is_a_section_if_its_id_is_a_name(read: Read) -> None:
    page = read(
        "<h2 id=api>API</h2><dl><dt id=click.Group.get_command><code>get_command</code>(ctx)"
        "<a href=/s>[source]</a><a href=#x>¶</a></dt><dd>Finds it.</dd>"
        "<dt id=git-add.txt--n>-n</dt><dd>No.</dd><dt>plain</dt><dd>No.</dd>"
        "<dt hidden id=a.b>hidden</dt></dl><h2 id=end>End</h2>"
    )
    found = [(each.anchor, each.title) for each in page.details.sections]
    assert found == [("api", "API"), ("click.Group.get_command", "get_command(ctx)"), ("end", "End")]
    assert page.text[page.details.sections[1].offset :].startswith("get_command(ctx)")
    assert page.headings == ("API", "End"), "a definition is no heading"


def test_an_id_that_nobody_would_link_to_is_no_anchor(read: Read) -> None:
    page = read(f"<section id=around><h2 id={'x' * 201}>One</h2>a</section><h2 id={'y' * 200}>Two</h2>b")
    assert [each.anchor for each in page.details.sections] == ["around", "y" * 200]


def test_offsets_count_only_what_is_kept(read: Read) -> None:
    words = "Words that are long enough for a page to be taken for one with content of its own. " * 3
    page = read(f"<nav><h2 id=n>Menu</h2><a href=a>x</a></nav><p>{words}</p><h2 id=s>  Second \n one¶</h2>z")
    (section,) = page.details.sections
    assert page.text[section.offset :] == "Second one¶\nz"


def test_emphasised_words_are_kept_once(read: Read) -> None:
    page = read(
        "<h2>The <code>wide_to_long</code> function</h2><dl><dt>stubnames<dd>The <b>stub</b> name(s)</dl>"
        f"<p><em>stub</em> <strong>i</strong> <b>{'far too long ' * 20}</b><code>not this</code></p>"
    )
    assert page.details.emphasised == "wide_to_long stubnames stub i"
