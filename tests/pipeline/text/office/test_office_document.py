"""Office documents that the usual libraries write: text, headings, title, dates; and hostile ones."""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from odfdo import Document as OpenDocument
from odfdo import Header, Paragraph

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.config.units import Characters, Size
from crawlctl.pipeline.text.documents.document import (
    FetchedDocument,
    Parsed,
    ParseOutcome,
    ParseRules,
    parse_document,
)
from crawlctl.pipeline.text.documents.page import PageDate, Unreadable
from crawlctl.pipeline.text.documents.sniff import DocumentKind
from crawlctl.pipeline.text.office import zip_parts
from crawlctl.pipeline.text.office.office_document import parse_office

DAY = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SECONDS = int(DAY.timestamp())
DEFAULTS = ParseSettings()


def saved(document: Any) -> bytes:
    buffer = BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def parsed(body: bytes, content_type: str = "") -> Parsed:
    return parse_document(FetchedDocument("https://a.example/x", body, content_type), ParseRules())


def zipped(**parts: bytes | str) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", "<x/>")
        for name, content in parts.items():
            file.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)
    return buffer.getvalue()


@pytest.mark.parametrize(("fetched_at", "is_kept"), [(SECONDS + 61, True), (SECONDS, False), (1, False)])
def test_dates_must_fit_the_time_of_the_fetch(fetched_at: int, is_kept: bool) -> None:
    document = docx.Document()
    document.core_properties.created = document.core_properties.modified = DAY
    fetched = FetchedDocument("https://a.example/x", saved(document), fetched_at=fetched_at)
    details = parse_document(fetched, ParseRules()).page.details
    wanted = PageDate(SECONDS, "document") if is_kept else None
    assert (details.published, details.modified) == (wanted, wanted)


@pytest.mark.parametrize(
    ("written", "authors"),
    [("Jane Doe; Joe Bloggs;jane doe", ["jane doe", "Joe Bloggs"]), ("", []), ("https://a.example/jane", [])],
)
def test_authors_of_a_word_document(written: str, authors: list[str]) -> None:
    document = docx.Document()
    document.core_properties.author = written
    assert parsed(saved(document)).page.details.fields == tuple(("author", name) for name in authors)


@pytest.mark.parametrize(
    ("meta", "author"),
    [
        ("<m:initial-creator>Ann</m:initial-creator><d:creator>Bob</d:creator>", "Ann"),
        ("<d:creator>Bob</d:creator>", "Bob"),
    ],
)
def test_the_author_of_an_open_document_is_who_made_it(meta: str, author: str) -> None:
    content = '<o:x xmlns:o="o" xmlns:text="text"><text:p>Some text</text:p></o:x>'
    body = zipped(content_xml=content, meta_xml=f'<x xmlns:m="m" xmlns:d="d">{meta}</x>')
    assert parse_office(body, DEFAULTS).details.fields == (("author", author),)


def test_a_word_document() -> None:
    document = docx.Document()
    document.core_properties.title = "About apes"
    document.core_properties.created = document.core_properties.modified = DAY
    document.add_heading("Apes", 1)
    paragraph = document.add_paragraph("They ")
    paragraph.add_run("eat").bold = True
    paragraph.add_run(" fruit.")
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "left", "right"
    document.add_heading("Food", 2)
    result = parsed(saved(document))
    assert (result.outcome, result.kind) == (ParseOutcome.PARSED, DocumentKind.OFFICE)
    page = result.page
    assert page.text == "Apes\nThey eat fruit.\nleft\nright\nFood"
    assert (page.title, page.headings) == ("About apes", ("Apes", "Food"))
    assert page.details.published == page.details.modified == PageDate(SECONDS, "document")


def test_slides() -> None:
    show = pptx.Presentation()
    for number in range(11):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
        slide.placeholders[1].text = f"point {number}"
    page = parsed(saved(show)).page
    assert page.headings == tuple(f"Slide {number}" for number in range(11)), "in the order of their numbers"
    assert page.text.startswith("Slide 0\npoint 0\nSlide 1\n")


def test_sheets() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Prices"
    book.properties.created = datetime(2024, 5, 1)
    sheet.append(["apple", 3, True])
    sheet.append([None, "pear", 4.5])
    book.create_sheet("More").append(["apple"])
    page = parsed(saved(book)).page
    assert page.text == "Prices\nMore\napple 3\npear 4.5\napple"
    assert (page.title, page.headings) == ("Prices", ("Prices", "More"))
    assert page.details.published == PageDate(int(datetime(2024, 5, 1, tzinfo=UTC).timestamp()), "document")
    assert page.details.modified is None, "it is the time of saving, which is the time of the fetch here"


def test_an_open_document() -> None:
    document = OpenDocument("text")
    document.body.clear()
    document.body.append(Header(1, "Apes"))
    document.body.append(Paragraph("They  eat\tfruit."))
    document.meta.title = "About apes"
    page = parsed(saved(document)).page
    assert (page.title, page.text, page.headings) == ("About apes", "Apes\nThey eat fruit.", ("Apes",))
    assert page.details.published is not None


WORD = '<w:document xmlns:w="w"><w:body>{}</w:body></w:document>'


def word(content: str) -> bytes:
    return zipped(word__document_xml=WORD.format(content))


def test_what_is_deleted_or_said_twice_is_left_out() -> None:
    page = parse_office(
        word(
            "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r><w:del><w:r><w:delText>c</w:delText></w:r></w:del>"
            "<w:instrText>PAGE</w:instrText><w:Fallback><w:p><w:t>d</w:t></w:p></w:Fallback></w:p>"
        ),
        DEFAULTS,
    )
    assert (page.text, page.title) == ("a b", "a b")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"PK\3\4" + bytes(26) + b"[Content_Types].xml", "the ZIP directory cannot be read"),
        (zipped(), "without the parts of an Office document"),
        (
            zipped(word__document_xml='<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>'),
            "its XML declares an entity",
        ),
        (word("<w:p>" * 300), "nested too deeply"),
    ],
    ids=["cut", "another archive", "entities", "deep"],
)
def test_hostile_documents_are_unreadable(body: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        parse_office(body, DEFAULTS)
    assert parsed(body, "application/octet-stream").outcome is ParseOutcome.UNREADABLE


def test_a_bomb_is_not_inflated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_parts, "MAX_INFLATED", 1 << 20)
    bomb = word("<w:x>" + " " * (2 << 20) + "</w:x>")
    assert len(bomb) < 10_000
    with pytest.raises(Unreadable, match="its parts have more than 1048576 bytes"):
        parse_office(bomb, DEFAULTS)


def test_a_long_document_is_cut() -> None:
    settings = ParseSettings(max_text=Characters(50))
    page = parse_office(word("<w:p><w:t>some words</w:t></w:p>" * 100), settings)
    assert page.truncated
    assert len(page.text) <= 50
    book = openpyxl.Workbook()
    for number in range(100):
        book.active.append([f"text {number}"])
    sheet = parse_office(saved(book), settings)
    assert sheet.truncated
    assert len(sheet.text) <= 50
    with pytest.raises(Unreadable, match=r"parse\.max_pdf allows 100"):
        parse_office(word("x"), ParseSettings(max_pdf=Size(100)))


def test_a_broken_part_gives_what_stands_before() -> None:
    page = parse_office(word("<w:p><w:t>first</w:t></w:p><broken"), DEFAULTS)
    assert (page.text, page.truncated) == ("first", True)
