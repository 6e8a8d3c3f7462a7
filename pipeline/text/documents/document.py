"""From a fetched body to what the rest of crawlctl keeps of it."""

from __future__ import annotations

from enum import Enum

import msgspec

from crawlctl.pipeline.config.settings import ParseSettings, SitemapSettings
from crawlctl.pipeline.text.documents.charset import decode
from crawlctl.pipeline.text.documents.page import Page
from crawlctl.pipeline.text.documents.pdf import Unreadable, parse_pdf
from crawlctl.pipeline.text.documents.plain_text import parse_text
from crawlctl.pipeline.text.documents.sniff import DocumentKind, sniff
from crawlctl.pipeline.text.html.directives import AGENT, robots_tags
from crawlctl.pipeline.text.html.html import parse_html
from crawlctl.pipeline.text.html.xhtml import as_html
from crawlctl.pipeline.text.likeness.fingerprint import fingerprint
from crawlctl.pipeline.text.words.language import declared_language, language_of


class ParseOutcome(Enum):
    """How the parsing of a document ended."""

    PARSED = "parsed"
    UNSUPPORTED = "unsupported type"
    UNREADABLE = "unreadable document"
    TIMEOUT = "parse timeout"
    MEMORY = "parse memory"
    CRASH = "parse crash"


class FetchedDocument(msgspec.Struct, frozen=True, array_like=True):
    """A body as it was fetched, with the headers that say how to read it."""

    url: str  # the canonical URL it came from
    body: bytes
    content_type: str = ""
    content_language: str = ""
    robots_tags: tuple[str, ...] = ()


class ParseRules(msgspec.Struct, frozen=True):
    """What is the same for all documents of a run."""

    settings: ParseSettings = ParseSettings()
    strip_parameters: tuple[str, ...] = ()
    agent: str = AGENT
    sitemaps: SitemapSettings = SitemapSettings()


class Parsed(msgspec.Struct, frozen=True, array_like=True):
    """What became of a document; the page is empty unless something could be read."""

    outcome: ParseOutcome
    kind: DocumentKind = DocumentKind.UNSUPPORTED
    page: Page = Page()
    language: str = ""
    encoding: str = ""
    encoding_by: str = ""  # what said so: bom, header, meta, utf-8, detected or default
    signature: bytes = b""
    sketch: bytes = b""
    note: str = ""  # why it could not be read
    salvaged: bool = False  # the page is what the cheap parser found


def parse_document(document: FetchedDocument, rules: ParseRules) -> Parsed:
    """Return what is in a document; whatever it contains, it is judged and not raised."""
    kind = sniff(document.content_type, document.body)
    if kind is DocumentKind.UNSUPPORTED:
        return Parsed(ParseOutcome.UNSUPPORTED, kind)
    if kind is DocumentKind.PDF:
        try:
            return finished(document, rules, kind, parse_pdf(document.body, rules.settings))
        except Unreadable as error:
            return Parsed(ParseOutcome.UNREADABLE, kind, note=str(error))
    markup = kind is not DocumentKind.TEXT
    text, encoding, said_by = decode(
        document.body[: rules.settings.max_html], document.content_type, markup=markup
    )
    if markup:
        html = as_html(text) if kind is DocumentKind.XHTML else text
        page = parse_html(html, document.url, rules.settings, strip=rules.strip_parameters, agent=rules.agent)
    else:
        page = parse_text(text, rules.settings)
    return finished(document, rules, kind, page, encoding=encoding, said_by=said_by)


def salvage_document(
    document: FetchedDocument, rules: ParseRules, cause: ParseOutcome, note: str = ""
) -> Parsed:
    """Return what a cheaper parser finds in a document that could not be parsed for the given cause."""
    from crawlctl.pipeline.text.documents.salvage import salvage_html

    kind = sniff(document.content_type, document.body)
    if kind not in (DocumentKind.HTML, DocumentKind.XHTML):
        return Parsed(cause, kind, note=note)
    text, encoding, said_by = decode(document.body[: rules.settings.max_html], document.content_type)
    page = salvage_html(text, document.url, rules.settings, strip=rules.strip_parameters, agent=rules.agent)
    found = finished(document, rules, kind, page, encoding=encoding, said_by=said_by)
    return msgspec.structs.replace(found, outcome=cause, note=note, salvaged=True)


def finished(
    document: FetchedDocument,
    rules: ParseRules,
    kind: DocumentKind,
    page: Page,
    *,
    encoding: str = "",
    said_by: str = "",
) -> Parsed:
    """Return the page with what its headers and its text add to it."""
    asked = robots_tags(document.robots_tags, rules.agent) if document.robots_tags else None
    if asked is not None:
        page = msgspec.structs.replace(page, directives=page.directives | asked)
    if len(document.body) > rules.settings.max_html and kind is not DocumentKind.PDF:
        page = msgspec.structs.replace(page, truncated=True)
    signature, sketch = fingerprint(f"{page.title}\n{page.text}")
    declared = page.language or declared_language(document.content_language)
    return Parsed(
        ParseOutcome.PARSED,
        kind,
        page,
        language_of(page.text, declared),
        encoding,
        said_by,
        signature,
        sketch,
    )
