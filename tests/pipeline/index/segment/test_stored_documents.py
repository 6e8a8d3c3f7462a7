from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.segment.stored_documents import (
    Document,
    Lengths,
    decode_head,
    decode_packed,
    decode_record,
    encode_document,
    head_of,
    record_of,
)
from crawlctl.pipeline.text.documents.page import PageDate, PageDetails


@settings(deadline=None)
@given(st.from_type(Document))
def test_a_record_comes_back_as_it_was(document: Document) -> None:
    found = decode_record(encode_document(record_of(document, Lengths(4, 3, 2, 1))))
    assert found == record_of(document, Lengths(4, 3, 2, 1))
    assert (found.url, found.text, found.lengths.title) == (document.url, document.text, 2)


@pytest.mark.parametrize("length", [0, 31, 32, 255, 256, 65_535, 65_536])
def test_a_packed_record_has_the_same_text(length: int) -> None:
    document = Document("http://a.example/", "title", ("one",), "é" + "x" * (length - 2) if length else "")
    record = record_of(document, Lengths(1, 1, 1, 2))
    fields = list(msgspec.structs.astuple(record))
    older = msgspec.msgpack.encode([*fields[:9], fields[10]])
    for value in (encode_document(record), older):
        found = decode_packed(value)
        assert found.text_bytes == document.text.encode()
        assert msgspec.structs.astuple(found)[:10] == msgspec.structs.astuple(record)[:10]
    for damaged in (older[:-1], msgspec.msgpack.encode([*fields[:10], 7])):
        with pytest.raises(CorruptFile):
            decode_packed(damaged)


def test_records_of_earlier_versions_are_read() -> None:
    """They had no details, or the sketch and one more field; a merge copies them as they are."""
    document = Document(
        "http://a.example/", "title", ("one",), "words", signature=b"sign", canonical="http://b.example/"
    )
    record = record_of(document, Lengths(1, 1, 1, 2))
    fields = list(msgspec.structs.astuple(record))
    assert decode_record(msgspec.msgpack.encode([*fields[:9], fields[10]])) == record
    oldest = [*fields[:8], b"a sketch", fields[8], "http://c.example/", fields[10]]
    assert decode_record(msgspec.msgpack.encode(oldest)) == record


def test_heads_of_earlier_versions_have_no_signature() -> None:
    head = head_of(record_of(Document("http://a.example/", signature=b"sign"), Lengths(1)), b"a sketch")
    fields = list(msgspec.structs.astuple(head))
    assert decode_head(msgspec.msgpack.encode(fields[:6])) == msgspec.structs.replace(head, signature=b"")


def test_heads_of_earlier_versions_are_not_explicit_and_have_no_signs() -> None:
    details = PageDetails(explicit=2, signs=4)
    head = head_of(record_of(Document("http://a.example/", details=details), Lengths(1)), b"a sketch")
    assert (head.explicit, head.signs) == (2, 4)
    fields = list(msgspec.structs.astuple(head))
    older = msgspec.structs.replace(head, signs=0)
    assert decode_head(msgspec.msgpack.encode(fields[:8])) == older
    assert decode_head(msgspec.msgpack.encode(fields[:7])) == msgspec.structs.replace(older, explicit=0)


@settings(deadline=None)
@given(st.from_type(Document))
def test_a_head_has_what_a_merge_asks_for(document: Document) -> None:
    record = record_of(document, Lengths(4, 3, 2, 1))
    head = decode_head(encode_document(head_of(record, document.sketch)))
    assert (head.url, head.lengths, head.language) == (record.url, record.lengths, record.language)
    assert head.fetched_at == record.fetched_at
    assert (head.sketch, head.signature) == (document.sketch, document.signature)


def test_a_head_has_the_latest_date_of_a_page_whatever_names_it() -> None:
    named = PageDetails(modified=PageDate(700, "json-ld"))
    dates = {
        head_of(
            record_of(Document("http://a.example/", last_modified=500, details=details), Lengths(1)), b""
        ).latest_date
        for details in (PageDetails(), named)
    }
    assert dates == {500, 700}


def test_half_a_surrogate_pair_costs_a_character_and_no_more() -> None:
    document = Document(
        "http://a.example/", title="a\ud800b", headings=("\udfff",), text="c\udc00", signature=b"\xff"
    )
    found = decode_record(encode_document(record_of(document, Lengths(1))))
    assert (found.title, found.headings, found.text, found.signature) == ("a?b", ("?",), "c?", b"\xff")
    assert found.lengths == Lengths(1)


@settings(deadline=None)
@given(st.binary(max_size=40))
def test_bytes_are_a_record_or_damaged(noise: bytes) -> None:
    sound = encode_document(record_of(Document("http://a.example/", text="one two"), Lengths(2)))
    for value in (noise, sound[: len(noise)], sound[: -len(noise) or None] + noise):
        try:
            assert isinstance(decode_record(value, "the-file", 7).text, str)
        except CorruptFile as error:
            assert str(error).startswith("the-file: damaged at byte 7")
        try:
            assert isinstance(decode_head(value, "the-file", 7).url, str)
        except CorruptFile as error:
            assert str(error).startswith("the-file: damaged at byte 7")
