"""Parses e-books (EPUB 2 and 3): their chapters are XHTML pages, read in the order of the book."""

from __future__ import annotations

from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from crawlctl.pipeline.text.documents.charset import decode
from crawlctl.pipeline.text.documents.page import Page, Unreadable
from crawlctl.pipeline.text.html.html import parse_html
from crawlctl.pipeline.text.html.xhtml import as_html
from crawlctl.pipeline.text.office.properties import Properties
from crawlctl.pipeline.text.office.xml_events import read_xml
from crawlctl.pipeline.text.office.zip_parts import ZipParts
from crawlctl.pipeline.text.words.language import declared_language

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import ParseSettings

_CONTAINER = "META-INF/container.xml"
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


class _Container:
    """A handler that finds the path of the package file."""

    def __init__(self) -> None:
        self.path = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "rootfile":
            self.path = self.path or attributes.get("full-path", "")

    def text(self, text: str) -> None:
        """Take a piece of text, which says nothing here."""

    def end(self, tag: str) -> None:
        """Take the end of an element."""


class _Package(Properties):
    """A handler for the package file: its properties, its files, and the order in which they are read."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}  # id → path of a page
        self.spine: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        super().start(tag, attributes)
        if tag == "item" and attributes.get("media-type") in _PAGES:
            self.files.setdefault(attributes.get("id", ""), unquote(attributes.get("href", "")))
        elif tag == "itemref" and attributes.get("linear", "yes") == "yes":
            self.spine.append(attributes.get("idref", ""))


def parse_epub(body: bytes, url: str, settings: ParseSettings, *, fetched_at: int = 0) -> Page:
    """Return text, title, headings and dates of a book that was fetched at a time in UTC seconds (0: now)."""
    if len(body) > settings.max_pdf:
        raise Unreadable(f"a book of {len(body)} bytes; parse.max_pdf allows {settings.max_pdf}")
    parts = ZipParts(body)
    container, package = _Container(), _Package()
    read_xml(parts.chunks(_CONTAINER), container)
    read_xml(parts.chunks(container.path), package)
    folder = dirname(container.path)
    pages = [normpath(join(folder, package.files[name])) for name in package.spine if name in package.files]
    if not pages:
        raise Unreadable("an EPUB without a list of its pages")
    texts, headings, is_complete = _read(parts, pages, url, settings)
    return Page(
        title=package.title(settings) or (headings[0] if headings else ""),
        headings=tuple(headings[: settings.max_headings]),
        text="\n".join(texts)[: settings.max_text],
        language=declared_language(package.values.get("language")),
        truncated=not is_complete,
        details=package.details(date_is="published", fetched_at=fetched_at),
    )


def _read(
    parts: ZipParts, pages: list[str], url: str, settings: ParseSettings
) -> tuple[list[str], list[str], bool]:
    """Return the texts of the pages, their headings, and whether all was read."""
    texts: list[str] = []
    headings: list[str] = []
    room = int(settings.max_text)
    for name in pages:
        html = decode(parts.content(name, settings.max_html), "application/xhtml+xml").text
        page = parse_html(as_html(html), url, settings, is_content=True)
        texts.append(page.text)
        headings += page.headings
        room -= len(page.text) + 1
        if room < 0:
            return texts, headings, False
    return [text for text in texts if text], headings, True
