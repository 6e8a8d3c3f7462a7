"""Parses one fetched document: finds its kind, calls its parser, adds language and fingerprint.

To add a content type:

1. text/documents/sniff.py: add a member to `DocumentKind`, and say by which Content-Type or first bytes
   `sniff` recognises it.
2. text/documents/, or text/office/ for documents of XML or in a zip file: a module with a function that
   returns a `Page`. It raises `Unreadable` for a document that it cannot read. It needs no limit of time or
   memory: every parser runs in a helper process (text/guarded/). Name the kind in the comment of
   `PageDetails.kind` (page.py).
3. This file: a function such as `_rtf_page(document, rules)`, and its line in `PARSERS`.
4. index/document_types.py: add the type to `PARSED_TYPES`; else `type:` and facets do not know it. Name it in
   the row of `type:` in search/query/operators.py too.
5. A test of the parser; docs/crawling.md, "Kinds of documents"; a line in CHANGELOG.md.

Then let the fetcher bring such documents: name the type in the Accept header (http/curl_options.py). If the
type stands in the defaults of `fetch.skip_types`, or its file extension in those of `scope.skip_extensions`
(config/settings.py), remove it there. A type that begins like an archive, or like plain text as RTF does,
needs a signature in `sniff`, which is asked before the Content-Type. Only PDFs, Office documents and e-books
may be larger than `fetch.max_body` (http/body.py).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.config.settings import ParseSettings, SitemapSettings, SiteRules
from crawlctl.pipeline.text.details.site_keys import site_of
from crawlctl.pipeline.text.details.site_rules import page_by_rules
from crawlctl.pipeline.text.documents.charset import decode
from crawlctl.pipeline.text.documents.page import Page, Unreadable
from crawlctl.pipeline.text.documents.page_signs import signs_of
from crawlctl.pipeline.text.documents.pdf import parse_pdf
from crawlctl.pipeline.text.documents.plain_text import parse_text
from crawlctl.pipeline.text.documents.sniff import DocumentKind, sniff
from crawlctl.pipeline.text.html.directives import AGENT, robots_tags
from crawlctl.pipeline.text.html.html import parse_html
from crawlctl.pipeline.text.html.xhtml import as_html
from crawlctl.pipeline.text.likeness.fingerprint import fingerprint
from crawlctl.pipeline.text.words.language import counted_words, declared_language, language_of_words

if TYPE_CHECKING:
    from collections.abc import Callable

    Parser = Callable[["FetchedDocument", "ParseRules"], Page]


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
    robots_tags: tuple[str, ...] = ()  # the X-Robots-Tag headers
    fetched_at: int = 0  # UTC seconds; 0 means now
    repeated: bytes = b""  # hashes of blocks that many pages of its host have, concatenated
    is_sampled: bool = True  # whether to return the hashes of its own blocks


class ParseRules(msgspec.Struct, frozen=True):
    """The settings that hold for all documents of a fetch or import task."""

    settings: ParseSettings = ParseSettings()
    strip_parameters: tuple[str, ...] = ()
    agent: str = AGENT
    sitemaps: SitemapSettings = SitemapSettings()
    sites: dict[str, SiteRules] = {}


class Parsed(msgspec.Struct, frozen=True, array_like=True):
    """The result for one document; `page` is empty unless the document could be read."""

    outcome: ParseOutcome
    kind: DocumentKind = DocumentKind.UNSUPPORTED
    page: Page = Page()
    language: str = ""
    signature: bytes = b""
    sketch: bytes = b""
    note: str = ""  # why the document could not be read
    salvaged: bool = False  # the full parser failed, and `page` is what the cheap parser found


def parse_document(document: FetchedDocument, rules: ParseRules) -> Parsed:
    """Return the parsed document. Bad content never raises: then the outcome in the result says why."""
    kind = sniff(document.content_type, document.body)
    parser = PARSERS.get(kind)
    if parser is None:
        return Parsed(ParseOutcome.UNSUPPORTED, kind)
    try:
        page = parser(document, rules)
    except Unreadable as error:
        return Parsed(ParseOutcome.UNREADABLE, kind, note=str(error))
    return _finished(document, rules, kind, page)


def salvage_document(
    document: FetchedDocument, rules: ParseRules, cause: ParseOutcome, note: str = ""
) -> Parsed:
    """Return what the cheap parser finds in a document on which the full parser failed for `cause`."""
    from crawlctl.pipeline.text.documents.salvage import salvage_html

    kind = sniff(document.content_type, document.body)
    if kind not in (DocumentKind.HTML, DocumentKind.XHTML):
        return Parsed(cause, kind, note=note)
    html = _text_of(document, rules)
    page = salvage_html(html, document.url, rules.settings, strip=rules.strip_parameters, agent=rules.agent)
    found = _finished(document, rules, kind, page)
    return msgspec.structs.replace(found, outcome=cause, note=note, salvaged=True)


def _finished(document: FetchedDocument, rules: ParseRules, kind: DocumentKind, page: Page) -> Parsed:
    """Return the result for a page, with what the headers and the text add to it."""
    if document.robots_tags:
        asked = robots_tags(document.robots_tags, rules.agent)
        page = msgspec.structs.replace(page, directives=page.directives | asked)
    # A change of which blocks are left out must not count as a change of the page, so these use its whole
    # text.
    signature, sketch = fingerprint(f"{page.title}\n{page.whole or page.text}")
    declared = page.language or declared_language(document.content_language)
    words = counted_words(page.text)
    detected = language_of_words(words)
    signs = signs_of(document.url, page, words, sketch, detected=detected, declared=declared)
    shown = _SHOWN.get(kind, kind.value)
    details = msgspec.structs.replace(page.details, kind=shown, signs=signs, links=len(page.links))
    page = msgspec.structs.replace(page, details=details, whole="")
    return Parsed(ParseOutcome.PARSED, kind, page, detected or declared, signature, sketch)


def _html_page(document: FetchedDocument, rules: ParseRules) -> Page:
    return _markup_page(_text_of(document, rules), document, rules)


def _xhtml_page(document: FetchedDocument, rules: ParseRules) -> Page:
    return _markup_page(as_html(_text_of(document, rules)), document, rules)


def _markup_page(html: str, document: FetchedDocument, rules: ParseRules) -> Page:
    def parse(html: str, is_content: bool = False) -> Page:
        return parse_html(
            html,
            document.url,
            rules.settings,
            strip=rules.strip_parameters,
            agent=rules.agent,
            fetched_at=document.fetched_at,
            is_content=is_content,
            repeated=document.repeated,
            is_sampled=document.is_sampled,
        )

    page = parse(html)
    key = site_of(rules.sites, document.url) if rules.sites else None
    if key is not None:
        page = page_by_rules(page, html, key, rules.sites[key], parse, max_title=rules.settings.max_title)
    return _marked_if_cut(page, document, rules)


def _text_page(document: FetchedDocument, rules: ParseRules) -> Page:
    page = parse_text(_text_of(document, rules, markup=False), rules.settings)
    return _marked_if_cut(page, document, rules)


def _pdf_page(document: FetchedDocument, rules: ParseRules) -> Page:
    return parse_pdf(document.body, rules.settings, fetched_at=document.fetched_at)


def _office_page(document: FetchedDocument, rules: ParseRules) -> Page:
    from crawlctl.pipeline.text.office.office_document import parse_office

    return parse_office(document.body, rules.settings, fetched_at=document.fetched_at)


def _epub_page(document: FetchedDocument, rules: ParseRules) -> Page:
    from crawlctl.pipeline.text.office.epub import parse_epub

    return parse_epub(document.body, document.url, rules.settings, fetched_at=document.fetched_at)


def _xml_page(document: FetchedDocument, rules: ParseRules) -> Page:
    from crawlctl.pipeline.text.office.xml_document import parse_xml

    return _marked_if_cut(parse_xml(_text_of(document, rules), rules.settings), document, rules)


def _text_of(document: FetchedDocument, rules: ParseRules, *, markup: bool = True) -> str:
    """Decode the first `parse.max_html` bytes of a body."""
    return decode(document.body[: rules.settings.max_html], document.content_type, markup=markup).text


def _marked_if_cut(page: Page, document: FetchedDocument, rules: ParseRules) -> Page:
    is_cut = len(document.body) > rules.settings.max_html
    return msgspec.structs.replace(page, truncated=True) if is_cut else page


_SHOWN = {DocumentKind.XHTML: DocumentKind.HTML.value}  # for the reader there is no difference

PARSERS: dict[DocumentKind, Parser] = {
    DocumentKind.HTML: _html_page,
    DocumentKind.XHTML: _xhtml_page,
    DocumentKind.TEXT: _text_page,
    DocumentKind.PDF: _pdf_page,
    DocumentKind.OFFICE: _office_page,
    DocumentKind.EPUB: _epub_page,
    DocumentKind.XML: _xml_page,
}
