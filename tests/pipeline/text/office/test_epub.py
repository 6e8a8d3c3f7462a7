"""E-books: chapters in the order of the book, its title and its dates."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.config.units import Characters
from crawlctl.pipeline.text.documents.document import FetchedDocument, ParseRules, parse_document
from crawlctl.pipeline.text.documents.page import PageDate, Unreadable
from crawlctl.pipeline.text.documents.sniff import DocumentKind
from crawlctl.pipeline.text.office.epub import parse_epub

URL = "https://a.example/book.epub"
CONTAINER = '<container xmlns="c"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
PACKAGE = """<package xmlns="o" xmlns:dc="d"><metadata><dc:title> The
 Book</dc:title><dc:language>de-AT</dc:language><dc:date>2026-01-02</dc:date>
<meta property="dcterms:modified">2026-02-03T00:00:00Z</meta></metadata><manifest>
<item id="b" href="text/b%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="text/a.xhtml" media-type="application/xhtml+xml"/>
<item id="n" href="nav.xhtml" media-type="application/xhtml+xml"/>
<item id="i" href="i.png" media-type="image/png"/>
</manifest><spine>
<itemref idref="a"/><itemref idref="i"/><itemref idref="b"/><itemref idref="n" linear="no"/></spine>
</package>"""
CHAPTER = '<html xmlns="x"><head><title/></head><body><h1>{0}</h1><p>Text {0}</p></body></html>'


def book(**changes: str) -> bytes:
    parts = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": PACKAGE,
        "OEBPS/text/a.xhtml": CHAPTER.format("A"),
        "OEBPS/text/b b.xhtml": CHAPTER.format("B"),
        "OEBPS/nav.xhtml": CHAPTER.format("Contents"),
    }
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("mimetype", "application/epub+zip")
        for name, content in parts.items():
            file.writestr(name, changes.get(name.rpartition("/")[2].partition(".")[0], content))
    return buffer.getvalue()


def test_a_book_is_read_in_its_order() -> None:
    result = parse_document(FetchedDocument(URL, book()), ParseRules())
    page = result.page
    assert result.kind is DocumentKind.EPUB
    assert (page.title, page.text, page.headings) == ("The Book", "A\nText A\nB\nText B", ("A", "B"))
    assert page.details.published == PageDate(1767312000, "document")
    assert page.details.modified == PageDate(1770076800, "document")
    assert page.language == "de"


def test_all_authors_of_a_book() -> None:
    names = "<dc:creator>Ann Lee</dc:creator><dc:creator>Bo Li</dc:creator><dc:language>"
    page = parse_epub(book(book=PACKAGE.replace("<dc:language>", names)), URL, ParseSettings())
    assert page.details.fields == (("author", "Ann Lee"), ("author", "Bo Li"))


def test_all_of_a_chapter_is_content() -> None:
    note = "A note of the author that belongs to the book. "
    parts = f"<header><h1>One</h1></header><p>{note * 9}</p><aside><p>{note}</p></aside><footer>End</footer>"
    page = parse_epub(book(a=f"<html><body>{parts}</body></html>"), URL, ParseSettings())
    assert page.headings == ("One", "B")
    assert page.text.count(note.strip()) == 10
    assert "End" in page.text


def test_a_long_book_is_cut() -> None:
    page = parse_epub(book(), URL, ParseSettings(max_text=Characters(4)))
    assert (page.text, page.truncated) == ("A\nTe", True)


@pytest.mark.parametrize("changes", [{"container": "<x/>"}, {"book": "<package/>"}, {"book": "no XML"}])
def test_a_book_without_pages_is_unreadable(changes: dict[str, str]) -> None:
    with pytest.raises(Unreadable, match="without a list of its pages"):
        parse_epub(book(**changes), URL, ParseSettings())
