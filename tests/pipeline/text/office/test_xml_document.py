"""XML documents of unknown formats: lines, headings, and what is never taken for one."""

from __future__ import annotations

import pytest

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.config.units import Characters
from crawlctl.pipeline.text.documents.document import (
    FetchedDocument,
    ParseOutcome,
    ParseRules,
    parse_document,
)
from crawlctl.pipeline.text.documents.page import Unreadable
from crawlctl.pipeline.text.documents.sniff import DocumentKind, sniff
from crawlctl.pipeline.text.office.xml_document import parse_xml

DOCBOOK = """<?xml version="1.0"?><book xml:lang="fr"><title>The
  Book</title><chapter><title>One</title><para>Some <emphasis>big</emphasis>
  words.</para><para>&lt;b&gt;</para></chapter></book>"""


def test_text_and_titles() -> None:
    document = FetchedDocument("https://a.example/x.xml", DOCBOOK.encode(), "application/xml")
    parsed = parse_document(document, ParseRules())
    assert (parsed.outcome, parsed.kind) == (ParseOutcome.PARSED, DocumentKind.XML)
    assert parsed.page.text == "The Book\nOne\nSome big words.\n<b>"
    assert (parsed.page.title, parsed.page.headings) == ("The Book", ("The Book", "One"))
    assert parsed.page.language == "fr"


def test_broken_and_long_documents() -> None:
    broken = parse_xml("<a><b>one</b><b>two", ParseSettings())
    assert (broken.text, broken.truncated) == ("one\ntwo", True)
    long = parse_xml(f"<a>{'word ' * 100}</a>", ParseSettings(max_text=Characters(9)))
    assert (len(long.text), long.truncated) == (9, True)
    for hostile in ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<a>" * 300, "<"):
        with pytest.raises(Unreadable):
            parse_xml(hostile, ParseSettings())


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/xml", b"<!-- c --><note>x</note>", DocumentKind.XML),
        ("text/xml", b"<html xmlns='x'/>", DocumentKind.XHTML),
        ("application/xml", b"<rss version='2.0'/>", DocumentKind.UNSUPPORTED),
        ("application/xml", b"<urlset/>", DocumentKind.UNSUPPORTED),
        ("application/xml", b"<x:stylesheet/>", DocumentKind.UNSUPPORTED),
        ("application/opensearchdescription+xml", b"<OpenSearchDescription/>", DocumentKind.UNSUPPORTED),
        ("text/html", b"<note>x</note>", DocumentKind.HTML),
    ],
)
def test_kinds(content_type: str, body: bytes, kind: DocumentKind) -> None:
    assert sniff(content_type, body) is kind
