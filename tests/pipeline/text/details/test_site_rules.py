from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import FieldRule, SiteRules
from crawlctl.pipeline.text.details.site_rules import MAX_VALUES, read_by_rules, version_of
from crawlctl.pipeline.text.documents.document import FetchedDocument, ParseRules, parse_document

if TYPE_CHECKING:
    from crawlctl.pipeline.text.documents.page import Page

URL = "https://a.example/page"
HTML = """<html lang=en><head><title>Site | Page</title><meta name=author content=Ann>
<script type="application/ld+json">{"@type": "Product", "offers": {"price": "1,299.00"}}</script></head><body>
<nav><h2>Menu</h2><a href=/menu>to the menu</a></nav>loose
<main><h1>Page</h1><p>Words <b class=ad>buy <b class=ad>now</b></b> here.</p>
<ul class=tags><li>x<li>y</ul></main>
<footer>Foot</footer></body></html>"""


def page(html: str = HTML, **rules: object) -> Page:
    sites = msgspec.convert({"a.example": rules}, dict[str, SiteRules])
    return parse_document(FetchedDocument(URL, html.encode(), "text/html"), ParseRules(sites=sites)).page


def test_content_and_remove_decide_the_text_and_the_links_stay() -> None:
    found = page(content="main", remove=".ad, ul")
    assert (found.title, found.headings, found.text) == ("Site | Page", ("Page",), "Page\nWords here.")
    assert [link.url for link in found.links] == ["https://a.example/menu"]
    assert found.language == "en"


def test_a_rule_for_the_content_wins_over_the_look_of_a_block() -> None:
    html = HTML.replace("Words", "Words that are the content of this page, and enough of them. " * 5)
    assert "Menu" not in page(html).text
    assert page(html, content="nav").text == "Menu\nto the menu"


def test_remove_alone_leaves_the_rest() -> None:
    found = page(remove="nav, footer, .ad")
    assert found.text == "loose\nPage\nWords here.\nx\ny" and found.headings == ("Page",)


def test_content_that_matches_nothing_leaves_the_page_whole_and_says_so() -> None:
    found = page(content="#gone", remove=".gone", title="h6")
    assert found.text == page().text and "Menu" in found.text
    assert found.title == "Site | Page"
    assert set(found.details.unmatched) == {"content", "remove", "title"}


def test_a_page_that_changed_before_and_removes_apply_although_content_matches_nothing() -> None:
    found = page(content="#gone", remove="nav")
    assert "Menu" not in found.text and "Foot" in found.text


def test_several_elements_nested_ones_and_cells() -> None:
    assert page(content="h1, footer").text == "Page\nFoot"
    assert page(content="main, main p").text == page(content="main").text
    table = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>"
    assert page(table, content="tr").text == "a b\nc"
    assert page(table, content="td").text == "a\nb\nc"
    assert page("<p>a<p>b", content="body").text == "a\nb"


def test_title_and_fields() -> None:
    fields = {
        "author": {"meta": "Author"},
        "price": {"json_ld": "offers.price", "kind": "number"},
        "tags": {"css": ".tags li"},
        "menu": {"css": "nav a", "attribute": "href"},
        "day": {"css": "time", "kind": "date"},
    }
    found = page(title="h1", fields=fields)
    assert found.title == "Page"
    assert found.details.fields == (
        ("author", "Ann"),
        ("price", 1299.0),
        ("tags", "x"),
        ("tags", "y"),
        ("menu", "/menu"),
    )
    assert found.details.unmatched == ("fields.day",)


def test_a_title_is_without_the_mark_that_links_to_its_heading() -> None:
    heading = "<h1>Page<a class=headerlink href='#page'>¶</a></h1>"
    assert page(HTML.replace("<h1>Page</h1>", heading), title="h1").title == "Page"


def test_a_field_of_the_rules_replaces_what_the_page_states() -> None:
    html = "<meta name=author content=Ann><i>Bo</i>"
    assert page(html, fields={"by": {"css": "i"}}).details.fields == (("author", "Ann"), ("by", "Bo"))
    assert page(html, fields={"author": {"css": "i"}}).details.fields == (("author", "Bo"),)


def test_values_of_a_field_are_bounded() -> None:
    found = page("<i>7</i>" * 500, fields={"n": {"css": "i", "kind": "number"}})
    assert found.details.fields == (("n", 7),) * MAX_VALUES


def test_the_rules_of_another_site_change_nothing() -> None:
    sites = {"b.example": SiteRules(content="main")}
    document = FetchedDocument(URL, HTML.encode(), "text/html")
    assert parse_document(document, ParseRules(sites=sites)) == parse_document(document, ParseRules())


def test_a_page_knows_by_which_rules_it_was_read() -> None:
    rules = SiteRules(fields={"a": FieldRule(css="i"), "b": FieldRule(css="b")})
    turned = SiteRules(fields=dict(reversed(rules.fields.items())))
    assert version_of(rules) == version_of(turned) != version_of(SiteRules())
    assert page(content="main").details.site == "a.example"
    assert page(content="main").details.site_version == version_of(SiteRules(content="main"))


def test_a_selector_that_lexbor_no_longer_understands_matches_nothing() -> None:
    assert read_by_rules(HTML, SiteRules(content="main >", remove="::x"), 99).unmatched == (
        "remove",
        "content",
    )


@given(
    st.lists(
        st.sampled_from(["<div class=a>", "</div>", "<p>", "<main>", "</main>", "<td>", "x ", "<a href=/y>"]),
        max_size=30,
    )
)
@pytest.mark.parametrize(
    "rules", [{"content": ".a"}, {"remove": ".a, main"}, {"content": "main", "remove": "div"}]
)
def test_any_page_is_read_by_rules_and_keeps_its_links(rules: dict[str, str], parts: list[str]) -> None:
    html = "".join(parts)
    whole, found = page(html), page(html, **rules)
    assert found.links == whole.links
    assert set(found.text.split()) <= set(whole.text.split())
