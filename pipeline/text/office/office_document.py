"""Parses Office documents: Word, PowerPoint and Excel since 2007 (OOXML), and OpenDocument.

These are ZIP files with XML inside, and their text stands in a few elements; this folder reads only those.
python-docx, openpyxl, python-pptx and odfdo read and write whole documents: they build the tree of each part,
inflate parts without a limit, and would be four more dependencies on each node of a cluster. (Our tests use
these libraries to write documents.)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.text.documents.page import Page, Unreadable
from crawlctl.pipeline.text.documents.plain_text import first_line
from crawlctl.pipeline.text.office.part_text import OPEN_DOCUMENT, SLIDES, WORD, PartText
from crawlctl.pipeline.text.office.properties import Properties
from crawlctl.pipeline.text.office.sheet_text import SharedTexts, SheetNames, SheetText
from crawlctl.pipeline.text.office.xml_events import read_xml
from crawlctl.pipeline.text.office.zip_parts import ZipParts
from crawlctl.pipeline.text.words.language import declared_language

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import ParseSettings
    from crawlctl.pipeline.text.office.part_text import PartRules

_NUMBER = re.compile(r"(\d+)\.xml$")


class _Found(NamedTuple):
    """The lines and headings of a document, and whether the whole document was read."""

    lines: list[str]
    headings: list[str]
    is_complete: bool


def parse_office(body: bytes, settings: ParseSettings, *, fetched_at: int = 0) -> Page:
    """Return text, title, headings and dates of a document; its first heading or line may be the title."""
    if len(body) > settings.max_pdf:
        raise Unreadable(f"a document of {len(body)} bytes; parse.max_pdf allows {settings.max_pdf}")
    parts = ZipParts(body)
    found = _found(parts, settings)
    is_open_document = "content.xml" in parts
    properties = Properties()
    read_xml(parts.chunks("meta.xml" if is_open_document else "docProps/core.xml"), properties)
    text = "\n".join(found.lines)[: settings.max_text]
    first = found.headings[0] if found.headings else first_line(text, settings.max_title)
    return Page(
        title=properties.title(settings) or first[: settings.max_title],
        headings=tuple(line[: settings.max_title] for line in found.headings[: settings.max_headings]),
        text=text,
        language=declared_language(properties.values.get("language")),
        truncated=not found.is_complete,
        details=properties.details(date_is="modified", fetched_at=fetched_at),
    )


def _found(parts: ZipParts, settings: ParseSettings) -> _Found:
    if "word/document.xml" in parts:
        names = ["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"]
        return _of_parts(parts, names, WORD, settings)
    if "ppt/presentation.xml" in parts:
        return _of_parts(parts, _numbered(parts, "ppt/slides/slide"), SLIDES, settings)
    if "xl/workbook.xml" in parts:
        return _of_sheets(parts, settings)
    if "content.xml" in parts:
        return _of_parts(parts, ["content.xml"], OPEN_DOCUMENT, settings)
    raise Unreadable("a ZIP file without the parts of an Office document")


def _of_parts(parts: ZipParts, names: list[str], rules: PartRules, settings: ParseSettings) -> _Found:
    reader = PartText(rules, settings.max_text)
    is_complete = True
    for name in names:
        is_complete = (name not in parts or read_xml(parts.chunks(name), reader)) and is_complete
        if reader.room < 0:
            break
    return _Found(reader.lines, reader.headings, is_complete and reader.room >= 0)


def _of_sheets(parts: ZipParts, settings: ParseSettings) -> _Found:
    shared, names = SharedTexts(settings.max_text), SheetNames()
    read_xml(parts.chunks("xl/sharedStrings.xml"), shared)
    read_xml(parts.chunks("xl/workbook.xml"), names)
    lines = list(names.names)
    room, is_complete = int(settings.max_text), True
    for name in _numbered(parts, "xl/worksheets/sheet"):
        sheet = SheetText(shared.texts, room)
        is_complete = read_xml(parts.chunks(name), sheet) and is_complete
        lines += sheet.lines
        room = sheet.room
        if room < 0:
            break
    return _Found(lines, names.names, is_complete and room >= 0)


def _numbered(parts: ZipParts, prefix: str) -> list[str]:
    """Return the parts with a prefix by their number, which is mostly the order of slides and sheets."""
    found = [(int(match[1][:9]), name) for name in parts.names if (match := _NUMBER.search(name))]
    return [name for _, name in sorted(found) if name.startswith(prefix)]
