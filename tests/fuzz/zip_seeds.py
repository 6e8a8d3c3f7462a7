"""Office documents, e-books and XML that the fuzzer starts from: as ZIP files, and as their parts."""

from __future__ import annotations

import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORD = (
    '<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="w"><w:body><w:p><w:pPr>'
    '<w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Apes</w:t></w:r></w:p><w:p><w:r><w:t>They eat</w:t>'
    "<w:tab/><w:t>日本 fruit.</w:t><w:br/></w:r></w:p></w:body></w:document>"
)
_SHEET = (
    '<x xmlns="s"><sheets><sheet name="Prices"/></sheets><si><t>Apples</t></si><sheetData><row><c t="s">'
    '<v>0</v></c><c><v>12.5</v></c><c t="inlineStr"><is><t>in</t></is></c></row></sheetData></x>'
)
_OPEN = (
    '<o:d xmlns:o="o" xmlns:text="t"><text:h text:outline-level="1">Head</text:h><text:p>One<text:s '
    'text:c="3"/>two<text:tab/><text:line-break/></text:p></o:d>'
)
_CORE = (
    '<c xmlns:dc="d" xmlns:m="m"><dc:title>T</dc:title><dc:creator>A; B</dc:creator>'
    "<dc:language>de</dc:language><m:initial-creator>C</m:initial-creator><dc:date>2026-01-02T03:04:05Z</dc:date></c>"
)
_PACKAGE = (
    '<package xmlns="o" xmlns:dc="d"><metadata><dc:title>Book</dc:title><dc:creator>A</dc:creator>'
    '<meta property="dcterms:modified">2026-02-03T00:00:00Z</meta></metadata><manifest>'
    '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine>'
    '<itemref idref="a"/></spine></package>'
)
_CHAPTER = '<html xmlns="x"><head><title/></head><body><h1>One</h1><p>Text <em>of it</em>.</p></body></html>'
_XML = (
    '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE d [<!ENTITY a "b">]><d xml:lang="en"><title>T</title>'
    "<p>Mixed <i>text</i> &a; &amp; <![CDATA[<raw>]]></p><!-- c --><?pi x?></d>"
)
OPEN_TYPE: Mapping[str, bytes] = {"mimetype": b"application/vnd.oasis.opendocument.text"}
EPUB_PARTS: Mapping[str, bytes] = {
    "mimetype": b"application/epub+zip",
    "META-INF/container.xml": b'<c><rootfile full-path="book.opf"/></c>',
    "book.opf": _PACKAGE.encode(),
    "a.xhtml": _CHAPTER.encode(),
}


def zipped(parts: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """Return a ZIP file; its parts are not compressed, so that a changed byte changes what is read."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in parts.items():
            file.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()


def office_seeds() -> tuple[bytes, ...]:
    """Return documents of Word, Excel and OpenDocument, then their parts."""
    parts = [text.encode() for text in (_WORD, _SHEET, _OPEN, _CORE)]
    word = {"word/document.xml": parts[0], "docProps/core.xml": parts[3]}
    sheet = dict.fromkeys(("xl/workbook.xml", "xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"), parts[1])
    open_document = {**OPEN_TYPE, "content.xml": parts[2], "meta.xml": parts[3]}
    whole = [zipped(each) for each in (word, sheet, open_document)]
    return (*whole, zipped(word, zipfile.ZIP_DEFLATED), *parts)


def epub_seeds() -> tuple[bytes, ...]:
    """Return a book, also compressed, its package file and its chapter."""
    return (
        zipped(EPUB_PARTS),
        zipped(EPUB_PARTS, zipfile.ZIP_DEFLATED),
        _PACKAGE.encode(),
        _CHAPTER.encode(),
    )


def xml_seeds() -> tuple[bytes, ...]:
    """Return XML documents in several encodings."""
    plain = _XML.replace('<!DOCTYPE d [<!ENTITY a "b">]>', "").replace("&a;", "")
    return (
        _XML.encode(),
        plain.encode(),
        plain.encode("utf-16"),
        _XML.replace("utf-8", "utf-16").encode("utf-16"),
        _WORD.encode(),
        _OPEN.encode(),
    )
