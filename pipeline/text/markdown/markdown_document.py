"""Writes one fetched document as Markdown: HTML by its structure, other kinds as their text.

The function has the form of `parse_document`, so a Guard runs it in its helper process: the tree of a hostile
page costs as much here as there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.text.documents.charset import decode
from crawlctl.pipeline.text.documents.document import Parsed, ParseOutcome, parse_document
from crawlctl.pipeline.text.documents.page import Page
from crawlctl.pipeline.text.documents.sniff import DocumentKind, sniff
from crawlctl.pipeline.text.html.content_nodes import boilerplate_nodes
from crawlctl.pipeline.text.html.xhtml import as_html
from crawlctl.pipeline.text.markdown.page_markdown import page_markdown

if TYPE_CHECKING:
    from crawlctl.pipeline.text.documents.document import FetchedDocument, ParseRules


def markdown_document(document: FetchedDocument, rules: ParseRules) -> Parsed:
    """Return a document whose page has Markdown as its text."""
    kind = sniff(document.content_type, document.body)
    if kind not in (DocumentKind.HTML, DocumentKind.XHTML):
        return parse_document(document, rules)
    from selectolax.lexbor import LexborHTMLParser

    settings = rules.settings
    html = decode(document.body[: settings.max_html], document.content_type).text
    html = as_html(html) if kind is DocumentKind.XHTML else html
    tree = LexborHTMLParser(html)
    written = page_markdown(tree, document.url, settings.max_text, boilerplate_nodes(tree, html))
    is_cut = written.is_cut or len(document.body) > settings.max_html
    title = tree.css_first("head title")
    page = Page(
        title=" ".join(title.text().split())[: settings.max_title] if title is not None else "",
        text=written.text,
        truncated=is_cut,
    )
    return Parsed(ParseOutcome.PARSED, kind, page)


def guarded_markdown(document: FetchedDocument, rules: ParseRules) -> Parsed:
    """Return the result of `markdown_document`, from a helper process with limits of time and memory."""
    from crawlctl.pipeline.text.guarded.guard import Guard

    with Guard(rules, parse=markdown_document) as guard:
        return guard.parse(document)
