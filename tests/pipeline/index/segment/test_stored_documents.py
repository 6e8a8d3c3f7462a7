from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.segment.stored_documents import (
    PREVIEW_CHARACTERS,
    Document,
    Lengths,
    decode_head,
    decode_record,
    encode_head,
    encode_record,
    record_of,
)


@settings(deadline=None)
@given(st.from_type(Document))
def test_a_record_comes_back_as_it_was(document: Document) -> None:
    found = decode_record(encode_record(record_of(document, Lengths(4, 3, 2, 1))))
    assert found == record_of(document, Lengths(4, 3, 2, 1))
    assert (found.url, found.text, found.lengths.title) == (document.url, document.text, 2)


def test_records_that_named_a_document_they_resemble_are_read() -> None:
    record = record_of(Document("http://a.example/", text="words"), Lengths())
    before = replace(record, unused="http://b.example/")
    assert replace(decode_record(encode_record(before)), unused="") == record


@settings(deadline=None)
@given(st.from_type(Document))
def test_a_head_has_what_a_merge_asks_for(document: Document) -> None:
    record = record_of(document, Lengths(4, 3, 2, 1))
    head = decode_head(encode_head(record))
    assert (head.url, head.lengths, head.language) == (record.url, record.lengths, record.language)
    assert (head.fetched_at, head.last_modified) == (record.fetched_at, record.last_modified)
    assert head.similarity == record.similarity


def test_half_a_surrogate_pair_costs_a_character_and_no_more() -> None:
    document = Document(
        "http://a.example/", title="a\ud800b", headings=("\udfff",), text="c\udc00", signature=b"\xff"
    )
    found = decode_record(encode_record(record_of(document, Lengths(1))))
    assert (found.title, found.headings, found.text, found.signature) == ("a?b", ("?",), "c?", b"\xff")
    assert found.lengths == Lengths(1)


@settings(deadline=None)
@given(st.binary(max_size=40))
def test_bytes_are_a_record_or_damaged(noise: bytes) -> None:
    sound = encode_record(record_of(Document("http://a.example/", text="one two"), Lengths(2)))
    for value in (noise, sound[: len(noise)], sound[: -len(noise) or None] + noise):
        try:
            assert isinstance(decode_record(value, "the-file", 7).text, str)
        except CorruptFile as error:
            assert str(error).startswith("the-file: damaged at byte 7")
        try:
            assert isinstance(decode_head(value, "the-file", 7).url, str)
        except CorruptFile as error:
            assert str(error).startswith("the-file: damaged at byte 7")


@pytest.mark.parametrize(
    ("text", "preview"),
    [
        ("", ""),
        ("one\n two", "one two"),
        ("word " * 100, ("word " * 48).strip()),
        ("x" * 500, "x" * PREVIEW_CHARACTERS),
    ],
)
def test_a_preview_is_one_line_of_whole_words(text: str, preview: str) -> None:
    assert record_of(Document("http://a.example/", text=text), Lengths()).preview == preview
