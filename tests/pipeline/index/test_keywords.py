from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.index.document_types import types_of
from crawlctl.pipeline.index.keywords import (
    all_fields,
    all_types,
    field_keyword,
    keywords_of,
    name_keyword,
    split_keyword,
    type_keyword,
)
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.text.documents.page import PageDetails, Section


def test_the_type_and_every_value_of_a_document_is_a_keyword_once() -> None:
    fields = (("author", "Ann  LEE"), ("author", "ann lee"), ("price", 12.0), ("size", 1.5))
    document = Document("http://a.example/x.DOCX?y", details=PageDetails(fields=fields, kind="office"))
    assert [split_keyword(term) for term in keywords_of(document)] == [
        ["type", "office"],
        ["type", "docx"],
        ["in", "author", "ann lee"],
        ["in", "price", "12"],
        ["in", "size", "1.5"],
    ]
    assert list(keywords_of(Document("http://a.example/"))) == []


def test_the_names_that_a_page_defines_are_keywords_by_their_keys() -> None:
    details = PageDetails(sections=(Section("click.Group.get_command", "get_command()", 0),))
    document = Document("http://a.example/api", details=details)
    found = [split_keyword(term) for term in keywords_of(document)]
    assert found == [["name", key] for key in ("getcommand", "groupgetcommand", "clickgroupgetcommand")]
    assert name_keyword("getcommand") in set(keywords_of(document))


@given(st.text("az09AZ_ \x01\xdf") | st.text("az09", min_size=195, max_size=205))
def test_a_name_is_written_by_the_same_rule_as_the_value_of_a_field(key: str) -> None:
    assert split_keyword(name_keyword(key))[1:] == split_keyword(field_keyword("x", key))[2:]


@given(st.text(min_size=1), st.text())
def test_a_keyword_sorts_before_all_words_and_behind_its_beginning(name: str, value: str) -> None:
    term = field_keyword(name, value)
    assert all_fields() <= term < b"0"
    assert term.decode().startswith(all_fields().decode())
    assert split_keyword(term)[0] == "in"
    assert len(split_keyword(term)) == 3
    assert b" " not in term, "runs separate terms by spaces"
    assert type_keyword("pdf").startswith(all_types())
    assert not term.startswith(all_types())


@pytest.mark.parametrize(
    ("kind", "url", "types"),
    [
        ("html", "http://a.example/x.pdf", ("html",)),
        ("office", "http://a.example/x", ("office",)),
        ("office", "http://a.example/x.odt#a", ("office", "odt")),
        ("office", "http://a.example/x.exe", ("office",)),
        ("", "http://a.example/x.pdf", ()),
        ("unsupported", "http://a.example/", ()),
    ],
)
def test_an_office_document_also_has_the_type_of_its_extension(
    kind: str, url: str, types: tuple[str, ...]
) -> None:
    assert types_of(kind, url) == types
