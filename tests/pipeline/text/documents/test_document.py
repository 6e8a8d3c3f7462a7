from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.config.units import Size
from crawlctl.pipeline.text.documents.document import (
    FetchedDocument,
    Parsed,
    ParseOutcome,
    ParseRules,
    parse_document,
    salvage_document,
)
from crawlctl.pipeline.text.documents.page import Directives
from crawlctl.pipeline.text.documents.sniff import DocumentKind
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "http://example.com/page"
GERMAN = "Das ist ein Text, und er ist in der deutschen Sprache geschrieben, damit man ihn auch erkennt."


def parsed(body: bytes | str, content_type: str = "text/html", rules: ParseRules | None = None) -> Parsed:
    data = body.encode() if isinstance(body, str) else body
    return parse_document(FetchedDocument(URL, data, content_type), rules or ParseRules())


def test_a_page_goes_all_the_way() -> None:
    found = parsed(f"<title>Titel</title><p>{GERMAN}<a href=x>mehr</a>".encode("utf-16"))
    assert found.outcome is ParseOutcome.PARSED
    assert (found.kind, found.language) == (DocumentKind.HTML, "de")
    assert (found.page.title, len(found.page.links)) == ("Titel", 1)
    assert (len(found.signature), len(found.sketch)) == (16, 292)


def test_xhtml_is_read_as_xml_means_it() -> None:
    head = '<head><title>t</title><script src="s"/></head>'
    xhtml = f'<html xmlns="http://www.w3.org/1999/xhtml">{head}<body>seen</body></html>'
    assert parsed(xhtml, "application/xhtml+xml").page.text == "seen"
    assert parsed(xhtml, "text/html").page.text == ""


def test_plain_text_has_a_title_and_no_markup() -> None:
    found = parsed("first line\n<b>second</b>", "text/plain; charset=utf-8")
    assert (found.kind, found.page.title, found.page.text) == (
        DocumentKind.TEXT,
        "first line",
        "first line\n<b>second</b>",
    )


def test_a_pdf_is_read_or_refused(pdf_of: Callable[..., bytes]) -> None:
    found = parsed(pdf_of("Hello", title="T"), "application/pdf")
    assert (found.outcome, found.kind, found.page.text) == (ParseOutcome.PARSED, DocumentKind.PDF, "Hello")
    assert parsed(b"%PDF-1.4 no more", "application/pdf").outcome is ParseOutcome.UNREADABLE
    assert parsed(b"%PDF-1.4 no more", "application/pdf").note


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [("text/html", "html"), ("application/xhtml+xml", "html"), ("text/plain", "text")],
)
def test_the_details_of_a_page_say_its_kind(content_type: str, kind: str) -> None:
    document = FetchedDocument("http://a.example/", b"<html><body>Hello</body></html>", content_type)
    assert parse_document(document, ParseRules()).page.details.kind == kind


def test_other_types_are_not_read() -> None:
    assert parsed(b"\x89PNG\r\n\x1a\n", "image/png") == Parsed(
        ParseOutcome.UNSUPPORTED, DocumentKind.UNSUPPORTED
    )


def test_headers_add_to_what_the_page_says() -> None:
    body = b"<meta name=robots content=nofollow>x"
    document = FetchedDocument(URL, body, "text/html", content_language="fr", robots_tags=("noindex",))
    found = parse_document(document, ParseRules())
    assert found.page.directives == Directives(noindex=True, nofollow=True)
    assert found.language == "fr"


def test_the_text_overrules_what_is_declared() -> None:
    assert parsed(f"<html lang=en><p>{GERMAN}").language == "de"


def test_only_the_allowed_size_is_read() -> None:
    rules = ParseRules(ParseSettings(max_html=Size(20)))
    found = parsed("<p>0123456789</p><p>left out", rules=rules)
    assert (found.page.text, found.page.truncated) == ("0123456789", True)


def test_parameters_and_agent_are_taken_from_the_rules() -> None:
    rules = ParseRules(strip_parameters=("utm_*",), agent="ourbot")
    found = parsed("<meta name=ourbot content=noindex><a href='x?utm_a=1'>t</a>", rules=rules)
    assert found.page.directives.noindex
    assert found.page.links[0].url == "http://example.com/x"


def test_pages_with_the_same_words_have_the_same_signature() -> None:
    one, other = parsed(f"<p>{GERMAN}"), parsed(f"<div><b>{GERMAN.upper()}!</b></div><script>1</script>")
    assert one.signature == other.signature != parsed("<p>Etwas anderes").signature


def test_a_page_without_words_is_like_no_other() -> None:
    assert parsed("<p></p>").signature == b""


def test_salvage_keeps_the_cause() -> None:
    document = FetchedDocument(URL, b"<title>t</title><p>text", "text/html")
    found = salvage_document(document, ParseRules(), ParseOutcome.TIMEOUT)
    assert (found.outcome, found.salvaged, found.page.title, found.page.text) == (
        ParseOutcome.TIMEOUT,
        True,
        "t",
        "text",
    )
    assert len(found.signature) == 16


def test_only_html_can_be_salvaged() -> None:
    found = salvage_document(
        FetchedDocument(URL, b"%PDF-1.4", "application/pdf"), ParseRules(), ParseOutcome.CRASH, "why"
    )
    assert found == Parsed(ParseOutcome.CRASH, DocumentKind.PDF, note="why")


def test_what_is_parsed_survives_the_pipe() -> None:
    found = parsed(f"<title>t</title><h1>h</h1><a href=x rel=nofollow>y</a>{GERMAN}")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=Parsed) == found


@settings(max_examples=examples(300), deadline=None)
@given(
    st.binary(max_size=400) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.sampled_from(
        ["text/html", "application/xhtml+xml", "text/plain", "application/pdf", "", "text/html;charset=big5"]
    ),
)
def test_whatever_comes_has_an_outcome(body: bytes, content_type: str) -> None:
    found = parsed(body, content_type)
    assert found.outcome in {ParseOutcome.PARSED, ParseOutcome.UNSUPPORTED, ParseOutcome.UNREADABLE}
    msgspec.msgpack.encode(found)
