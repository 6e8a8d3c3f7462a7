"""Documents as Markdown, compared with markdownify on pages of the demo web, and in the helper process."""

from __future__ import annotations

import msgspec
import pytest
from markdown_it import MarkdownIt
from markdownify import markdownify
from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawlctl.pipeline.config.settings import ParseSettings, SiteRules
from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.demo.pages import SITES, build_sites
from crawlctl.pipeline.demo.render import render
from crawlctl.pipeline.text.documents.document import (
    FetchedDocument,
    ParseOutcome,
    ParseRules,
    parse_document,
)
from crawlctl.pipeline.text.markdown.markdown_document import guarded_markdown, markdown_document
from crawlctl.pipeline.text.markdown.page_markdown import page_markdown
from crawlctl.pipeline.urls.whatwg import join

# At least a module for each site.
MODULES = ("bisect", "glob", "json", "queue", "this")
BASES = [f"http://127.0.0.{number}/" for number in range(1, SITES + 1)]
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
MORE = b"""<!DOCTYPE html><h1>Kinds</h1><p>Some <b>bold</b>, <em>other</em> and <code>code</code> words.</p>
<ol start=3><li>three<li>four<ul><li>deep</ul></ol><pre><code>x = 1
y = 2</code></pre><blockquote><p>quoted</p></blockquote><h2>Data</h2>
<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><a href="two">2</a></td></tr>
<tr><td>3</td><td>4</td></tr></tbody></table>"""


def demo_pages() -> dict[str, bytes]:
    sites = build_sites(render(MODULES), BASES)
    pages = {
        base + path[1:]: resource.body
        for base, site in zip(BASES, sites, strict=True)
        for path, resource in site.items()
        if resource.body.startswith(b"<!DOCTYPE html>")
    }
    return {**pages, BASES[0] + "more.html": MORE}


PAGES = demo_pages()


@pytest.mark.parametrize("url", PAGES)
def test_a_page_has_the_structure_that_markdownify_finds(url: str) -> None:
    # markdownify knows no boilerplate, so none is left out here.
    ours = _read(page_markdown(LexborHTMLParser(PAGES[url].decode()), url, 1 << 20).text)
    body = LexborHTMLParser(PAGES[url].decode()).body
    assert body is not None
    theirs = _read(markdownify(body.html or "", heading_style="ATX"))
    for selector in ("h1, h2, h3, h4, h5, h6", "pre", "li", "td"):
        # Pages of pydoc lay themselves out with tables, which markdownify takes for data. It writes what is
        # in them as text, so it loses links and items.
        if selector in ("li", "td") and body.css("table.heading"):
            continue
        assert _texts(ours, selector) == _texts(theirs, selector), selector
    assert _targets(ours, url) == _targets(body if body.css("table.heading") else theirs, url)


def _read(markdown: str) -> LexborHTMLParser:
    return LexborHTMLParser(READER.render(markdown))


def test_the_demo_web_has_what_is_compared() -> None:
    everything = b"".join(PAGES.values())
    assert len(PAGES) > 10
    assert all(tag in everything for tag in (b"<h1", b"<li", b"<pre", b"<td", b"<a href", b"<dl"))


def _texts(tree: LexborHTMLParser, selector: str) -> list[str]:
    texts = ("".join(node.text().split()) for node in tree.css(selector))
    return [text for text in texts if text]


def _targets(tree: LexborHTMLParser | LexborNode, url: str) -> list[str]:
    """Return the targets of the links that have a text, in the order of the page."""
    return [
        join(url, node.attributes.get("href") or "") for node in tree.css("a[href]") if node.text().strip()
    ]


def written(body: bytes, content_type: str) -> str:
    return markdown_document(FetchedDocument(BASES[0], body, content_type), ParseRules()).page.text


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b"<p>\xe9t\xe9 <b>x</b>", "text/html; charset=latin-1", "été **x**"),
        (
            b"<html xmlns='x'><head><title/></head><body><a/>text</body></html>",
            "application/xhtml+xml",
            "text",
        ),
        (b"# not a *heading*\n\n  x", "text/plain", "# not a *heading*\nx"),
    ],
)
def test_the_kind_decides(body: bytes, content_type: str, text: str) -> None:
    assert written(body, content_type) == text


def test_menus_are_left_out_as_in_the_index() -> None:
    prose = "Apes eat fruit, leaves and bark, and they sleep in nests that they build each evening. " * 3
    menu = "<nav><ul><li><a href=/>Home</a></ul></nav>"
    html = f"{menu}<main><h1>Apes</h1><p>{prose}</main><footer>Imprint</footer>"
    document = FetchedDocument(BASES[0], html.encode(), "text/html")
    assert markdown_document(document, ParseRules()).page.text == f"# Apes\n\n{prose.strip()}"
    assert parse_document(document, ParseRules()).page.text == f"Apes\n{prose.strip()}"


def test_a_page_that_costs_too_much_gives_its_plain_text() -> None:
    rules = ParseRules(ParseSettings(time_limit=Duration(1)))
    hostile = b"<p>words first</p>" + b"<div>" * 100_000  # ten times the limit on a fast machine
    parsed = guarded_markdown(FetchedDocument(BASES[0], hostile, "text/html"), rules)
    assert (parsed.outcome, parsed.salvaged) == (ParseOutcome.TIMEOUT, True)
    assert parsed.page.text == "words first"
    fine = guarded_markdown(FetchedDocument(BASES[0], b"<h1>a</h1>", "text/html"), rules)
    assert fine.page.text == "# a"


def test_the_rules_for_a_site_decide_as_they_do_for_the_index() -> None:
    prose = "Enough words to be the content of a page, and a full stop. " * 5
    html = f"<nav><p>menu</p></nav><main><h1>Head</h1><p>{prose}</p><p class=ad>ad</p></main>"
    document = FetchedDocument("http://a.example/", html.encode(), "text/html")

    def written(**rules: str) -> list[str]:
        sites = msgspec.convert({"a.example": rules}, dict[str, SiteRules])
        return markdown_document(document, ParseRules(sites=sites)).page.text.split("\n\n")

    assert [line.strip() for line in written(remove=".ad")] == ["# Head", prose.strip()]
    assert [line.strip() for line in written(content="nav, .ad")] == ["menu", "ad"]
    assert written(content=".gone") == written(title=".gone")
    assert len(written(content=".gone")) == 3
