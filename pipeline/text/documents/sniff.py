"""Finds the kind of a document by its Content-Type and its first bytes.

This is a small part of the WHATWG MIME sniffing standard, with one aim: never index what is not text.

1. The signature of a PDF, an image, an archive, a font or a film decides, whatever the header
   says: no HTML and no text starts with such bytes.
2. A header that names a kind we read is believed, with two exceptions that the standard has too. `text/plain`
   with bytes that occur in no text is binary: old versions of Apache send this type for any file that they do
   not know. `text/html` whose first tag is the root element of a feed is a feed.
3. A header that says nothing (absent, malformed, `application/octet-stream`, `unknown/unknown`, …) lets the
   body decide: it is HTML if it starts with a tag that starts HTML pages, else text unless it has binary
   bytes.
4. XML types are XHTML if the root element is `html`. Feeds and sitemaps are no documents. The general XML
   types are read for their text.
5. A ZIP file is an Office document or an e-book if its first part says so, or if the header does.
6. No other type is read, even if the body looks like HTML. And `text/plain` never becomes HTML, because it
   may be a listing of the source of a page.

https://mimesniff.spec.whatwg.org/
"""

from __future__ import annotations

import re
from enum import Enum


class DocumentKind(Enum):
    """The kinds of documents; document.py has a parser for each kind except the last."""

    HTML = "html"
    XHTML = "xhtml"
    TEXT = "text"
    PDF = "pdf"
    OFFICE = "office"  # OOXML and OpenDocument
    EPUB = "epub"
    XML = "xml"
    UNSUPPORTED = "unsupported"


SNIFFED_BYTES = 1445  # as in the standard

_BY_TYPE = {
    "text/html": DocumentKind.HTML,
    "application/xhtml+xml": DocumentKind.XHTML,
    "text/plain": DocumentKind.TEXT,
    "text/markdown": DocumentKind.TEXT,
    "text/x-rst": DocumentKind.TEXT,
    "text/prs.fallenstein.rst": DocumentKind.TEXT,
    "application/pdf": DocumentKind.PDF,
    "application/x-pdf": DocumentKind.PDF,
}
_EPUB_TYPE = "application/epub+zip"
_OFFICE_TYPES = ("application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument.")
_XML_TYPES = {"application/xml", "text/xml", "application/docbook+xml", "application/tei+xml"}
_SAYS_NOTHING = {
    "",
    "*/*",
    "application/octet-stream",
    "application/unknown",
    "application/x-download",
    "application/force-download",
    "binary/octet-stream",
    "unknown/unknown",
    "content/unknown",
}
_TYPE = re.compile(r"\s*([!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;|$)", re.I)

_PDF = re.compile(rb"[\t\n\f\r ]{0,64}%PDF-")
# The first part of a ZIP file: its name begins at byte 30. OpenDocument and EPUB begin with their type.
_ZIP = b"PK\x03\x04"
_ZIP_OF_EPUB = re.compile(rb"PK\x03\x04.{26}mimetypeapplication/epub\+zip", re.S)
_ZIP_OF_OFFICE = re.compile(
    rb"PK\x03\x04.{26}(?:mimetypeapplication/vnd\.oasis\.opendocument\.|\[Content_Types\]\.xml|(?:_rels|docProps|word|ppt|xl)/)",
    re.S,
)
_BINARY_SIGNATURE = re.compile(
    rb"\x89PNG\r\n\x1a\n|GIF8[79]a|\xff\xd8\xff|RIFF....(?:WEBPVP|WAVE|AVI )|BM....\0\0\0\0"
    rb"|\x00\x00\x01\x00|II\*\x00|MM\x00\*"
    rb"|PK\x03\x04|\x1f\x8b\x08|Rar!\x1a\x07|7z\xbc\xaf\x27\x1c|BZh[1-9]1AY|\xfd7zXZ\0|\x28\xb5\x2f\xfd"
    rb"|%!PS-Adobe-|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1|wOF[F2]|OTTO\0|\x00\x01\x00\x00\x00|\x7fELF|MZ[\x00-\x1f\x80-\xff]"
    rb"|OggS\0|ID3[\x02-\x04]|fLaC|\0\0\0.ftyp|\x1aE\xdf\xa3|MThd\0\0\0\x06|SQLite format 3\0",
    re.S,
)
# Bytes that occur in no text in any encoding. ESC is not one of them, because ISO-2022 uses it.
_BINARY_BYTE = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_BOM = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
_UTF16_TAG = re.compile(rb"(?:\0[\t\n\f\r ])*\0<\0[!?a-zA-Z]|(?:[\t\n\f\r ]\0)*<\0[!?a-zA-Z]\0")
# What may precede the first tag that counts: white space, comments, processing instructions, a DOCTYPE. Each
# alternative can end in one way only, else a hostile prologue would be tried in exponentially many ways.
_PROLOGUE = rb"(?:\s|<!--(?:(?!-->).)*-->|<\?[^>]*>|<![a-z][^\[>]*(?:\[[^\]]*\]\s*)?>)*"
_HTML_START = re.compile(
    rb"\s*<(?:!doctype\s+html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta|link|base"
    rb"|ul|ol|center|frameset|h2|h3|section|main|article|header|nav)[\s/>]|\s*<!--",
    re.I,
)
_XHTML_ROOT = re.compile(_PROLOGUE + rb"<(?:[a-z0-9_.-]+:)?html[\s/>]", re.I | re.S)
# The root element of an XML document, except roots of lists of pages, pictures and programs; the declared
# type does not matter.
_XML_ROOT = re.compile(
    _PROLOGUE
    + rb"<(?!(?:[a-z0-9_.-]+:)?(?:rss|feed|rdf|sitemapindex|urlset|svg|stylesheet|schema)[\s/>])[a-z_]",
    re.I | re.S,
)
_FEED = re.compile(_PROLOGUE + rb"<(?:[a-z0-9_.-]+:)?(?:rss|feed|rdf)[\s/>]", re.I | re.S)
_JSON_FEED = "application/feed+json"
_FEED_ROOT = re.compile(_PROLOGUE + rb"<(?:rss|feed|rdf:rdf|sitemapindex|urlset)[\s/>]", re.I | re.S)


def media_type(content_type: str | None) -> str:
    """Return the type and subtype of a Content-Type header in lower case, or "" if it is malformed."""
    match = _TYPE.match(content_type or "")
    return match[1].lower() if match else ""


def sniff(content_type: str | None, body: bytes) -> DocumentKind:
    """Return the kind of a body that was served with this Content-Type."""
    head = body[:SNIFFED_BYTES]
    if _PDF.match(head):
        return DocumentKind.PDF
    served = media_type(content_type)
    if head.startswith(_ZIP):
        return _zip_kind(served, head)
    if _BINARY_SIGNATURE.match(head):
        return DocumentKind.UNSUPPORTED
    if served in _SAYS_NOTHING:
        return _by_body(head)
    if served in _BY_TYPE:
        return _checked(_BY_TYPE[served], head)
    return _xml_kind(served, _plain(head)) if served.endswith(("/xml", "+xml")) else DocumentKind.UNSUPPORTED


def _xml_kind(served: str, plain: bytes) -> DocumentKind:
    if _XHTML_ROOT.match(plain):
        return DocumentKind.XHTML
    is_document = served in _XML_TYPES and _XML_ROOT.match(plain) is not None
    return DocumentKind.XML if is_document else DocumentKind.UNSUPPORTED


def _zip_kind(served: str, head: bytes) -> DocumentKind:
    if _ZIP_OF_EPUB.match(head):
        return DocumentKind.EPUB
    if _ZIP_OF_OFFICE.match(head):
        return DocumentKind.OFFICE
    if served == _EPUB_TYPE:
        return DocumentKind.EPUB
    return DocumentKind.OFFICE if served.startswith(_OFFICE_TYPES) else DocumentKind.UNSUPPORTED


def is_feed(content_type: str | None, body: bytes) -> bool:
    """Return whether a body is a feed (RSS, Atom, JSON Feed): a list of pages, and no document."""
    head = body[:SNIFFED_BYTES]
    served = media_type(content_type)
    if served == _JSON_FEED:
        return True
    is_xml = served in _SAYS_NOTHING or served == "text/html" or served.endswith(("/xml", "+xml"))
    return is_xml and _FEED.match(_plain(head)) is not None


def _checked(named: DocumentKind, head: bytes) -> DocumentKind:
    """Return the kind that a header names, unless the body contradicts it."""
    if named is DocumentKind.PDF:
        return DocumentKind.UNSUPPORTED  # the body does not have the signature of a PDF
    if named is DocumentKind.TEXT and _is_binary(head):
        return DocumentKind.UNSUPPORTED
    if named is DocumentKind.HTML and _FEED_ROOT.match(_plain(head)):
        return DocumentKind.UNSUPPORTED
    return named


def _by_body(head: bytes) -> DocumentKind:
    plain = _plain(head)
    if _FEED_ROOT.match(plain):
        return DocumentKind.UNSUPPORTED
    if _XHTML_ROOT.match(plain) or _HTML_START.match(plain):
        return DocumentKind.XHTML if plain.lstrip().startswith(b"<?xml") else DocumentKind.HTML
    if not head.strip() or plain.lstrip().startswith(b"<?xml") or _is_binary(head):
        return DocumentKind.UNSUPPORTED
    return DocumentKind.TEXT


def _plain(head: bytes) -> bytes:
    """Return the head as the patterns expect it: ASCII instead of UTF-16, and no byte order mark."""
    if head.startswith(_BOM[1:]) or _UTF16_TAG.match(head):
        return head.replace(b"\0", b"").lstrip(b"\xfe\xff")
    return head.removeprefix(_BOM[0])


def _is_binary(head: bytes) -> bool:
    return not head.startswith(_BOM) and _BINARY_BYTE.search(head) is not None
