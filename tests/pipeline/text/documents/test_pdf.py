from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.config.units import Characters, Size
from crawlctl.pipeline.text.documents.page import PageDate, PageDetails, Unreadable
from crawlctl.pipeline.text.documents.pdf import parse_pdf
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session")
def manual(pdf_of: Callable[..., bytes]) -> bytes:
    return pdf_of("Hello crawler", "Second page", title="A  manual")


def test_title_and_text_of_all_pages(manual: bytes) -> None:
    page = parse_pdf(manual, ParseSettings())
    assert (page.title, page.text, page.truncated) == ("A manual", "Hello crawler\nSecond page", False)


def test_without_a_title_the_first_line_stands_for_it(pdf_of: Callable[..., bytes]) -> None:
    assert parse_pdf(pdf_of("Only line"), ParseSettings()).title == "Only line"


def test_dates_of_the_file(pdf_of: Callable[..., bytes]) -> None:
    info = "/CreationDate(D:20240501140000+02'00')/ModDate(D:20240503)"
    details = parse_pdf(pdf_of("Text", info=info), ParseSettings()).details
    assert (details.published, details.modified) == (
        PageDate(1_714_564_800, "pdf"),
        PageDate(1_714_694_400, "pdf"),
    )
    assert parse_pdf(pdf_of("Text", info="/ModDate(D:1904)"), ParseSettings()).details == PageDetails()


@pytest.mark.parametrize(
    ("written", "fields"), [("Doe,  Jane", (("author", "Doe, Jane"),)), ("http://x", ())]
)
def test_the_author_of_the_file(pdf_of: Callable[..., bytes], written: str, fields: object) -> None:
    details = parse_pdf(pdf_of("Text", info=f"/Author({written})"), ParseSettings()).details
    assert details.fields == fields


def test_pages_and_text_are_bounded(manual: bytes) -> None:
    few = parse_pdf(manual, ParseSettings(max_pdf_pages=1))
    assert (few.text, few.truncated) == ("Hello crawler", True)
    short = parse_pdf(manual, ParseSettings(max_text=Characters(5)))
    assert (short.text, short.truncated) == ("Hello", True)


@pytest.mark.parametrize("end", [9, 60])
def test_a_document_cut_off_is_unreadable(manual: bytes, end: int) -> None:
    with pytest.raises(Unreadable):
        parse_pdf(manual[:end], ParseSettings())


def test_a_document_too_large_is_not_opened(manual: bytes) -> None:
    with pytest.raises(Unreadable, match=r"parse\.max_pdf allows 100"):
        parse_pdf(manual, ParseSettings(max_pdf=Size(100)))


@settings(
    max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.integers(0, 900), st.integers(0, 255)), max_size=30))
def test_whatever_is_damaged_is_read_or_refused(manual: bytes, damage: list[tuple[int, int]]) -> None:
    body = bytearray(manual)
    for place, byte in damage:
        body[place % len(body)] = byte
    with suppress(Unreadable):
        assert parse_pdf(bytes(body), ParseSettings()).title is not None
