"""Writes one fetched document as Markdown: HTML by its structure, other kinds as their text.

The function has the form of `parse_document`, so a Guard runs it in its helper process: the tree of a hostile
page takes as much time and memory here as there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.text.details.site_keys import site_of
from crawlctl.pipeline.text.details.site_rules import read_by_rules
from crawlctl.pipeline.text.documents.charset import decode
from crawlctl.pipeline.text.documents.document import Parsed, ParseOutcome, parse_document
from crawlctl.pipeline.text.documents.page import Page
from crawlctl.pipeline.text.documents.sniff import DocumentKind, sniff
from crawlctl.pipeline.text.html.content_nodes import boilerplate_nodes
from crawlctl.pipeline.text.html.xhtml import as_html
from crawlctl.pipeline.text.markdown.page_markdown import page_markdown

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from crawlctl.pipeline.text.documents.document import FetchedDocument, ParseRules


def markdown_document(document: FetchedDocument, rules: ParseRules) -> Parsed:
    """Return a document whose page has Markdown as its text."""
    kind = sniff(document.content_type, document.body)
    if kind not in (DocumentKind.HTML, DocumentKind.XHTML):
        return parse_document(document, rules)
    settings = rules.settings
    html = decode(document.body[: settings.max_html], document.content_type).text
    html = as_html(html) if kind is DocumentKind.XHTML else html
    title, tree, left_out = _content(html, document, rules)
    written = page_markdown(tree, document.url, settings.max_text, left_out)
    is_cut = written.is_cut or len(document.body) > settings.max_html
    return Parsed(ParseOutcome.PARSED, kind, Page(title=title, text=written.text, truncated=is_cut))


def _content(
    html: str, document: FetchedDocument, rules: ParseRules
) -> tuple[str, LexborHTMLParser, list[LexborNode]]:
    """Return the title of a page, the tree to write, and the nodes of the tree that are not its content.

    It decides like the index: by the rules for the site of the page or, without rules, by the signs of
    blocks.
    """
    from selectolax.lexbor import LexborHTMLParser

    tree, max_title = LexborHTMLParser(html), rules.settings.max_title
    element = tree.css_first("head title")
    title = " ".join(element.text().split())[:max_title] if element is not None else ""
    repeated = document.repeated if rules.settings.drop_repeated else b""
    key = site_of(rules.sites, document.url) if rules.sites else None
    if key is None:
        return title, tree, boilerplate_nodes(tree, repeated=repeated)
    found = read_by_rules(html, rules.sites[key], max_title)
    if found.html is not None:
        tree = LexborHTMLParser(found.html)
    left_out = [] if found.is_content else boilerplate_nodes(tree, repeated=repeated)
    return found.title or title, tree, left_out


def guarded_markdown(document: FetchedDocument, rules: ParseRules) -> Parsed:
    """Return the result of `markdown_document`, from a helper process with limits of time and memory."""
    from crawlctl.pipeline.text.guarded.guard import Guard

    with Guard(rules, parse=markdown_document) as guard:
        return guard.parse(document)
