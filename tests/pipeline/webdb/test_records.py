from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.webdb.records import (
    Fresh,
    Outcome,
    Status,
    WebEntry,
    decode_entry,
    decode_fresh,
    decode_outcome,
    encode,
)

ENTRY = WebEntry(Status.FETCHED, next_due=1_800_000_000, score=0.5, depth=2, first_seen=1_700_000_000)


@given(st.from_type(WebEntry), st.from_type(Fresh), st.from_type(Outcome))
def test_records_survive_packing(entry: WebEntry, fresh: Fresh, outcome: Outcome) -> None:
    assert decode_entry(encode(entry)) == entry
    assert decode_fresh(encode(fresh)) == fresh
    assert decode_outcome(encode(outcome)) == outcome


def test_the_numbers_on_disk_do_not_change() -> None:
    packed = encode(ENTRY)
    assert packed.hex() == (
        "dc001901ce6b49d200cb3fe000000000000002ce6553f100000000000000c400a0a090a0a0a0a0900000a00000"
    )


def test_entries_of_an_older_and_a_newer_release_are_read() -> None:
    fields = msgspec.msgpack.decode(encode(ENTRY))
    assert decode_entry(encode([*fields, "a field to come"])) == ENTRY
    assert decode_entry(encode(fields[:16])) == ENTRY


def test_what_a_duplicate_names_is_found_where_older_stores_have_it() -> None:
    older = msgspec.structs.replace(ENTRY, status=Status.DUPLICATE, redirect_to="https://example.org/")
    assert older.names == "https://example.org/"
    assert msgspec.structs.replace(older, status=Status.REDIRECTED).names == ""
    assert msgspec.structs.replace(ENTRY, named="https://example.org/b").names == "https://example.org/b"


@pytest.mark.parametrize("value", [b"", b"\xc1", encode(ENTRY)[:-1], encode([99, 0, 0.0, 0, 0]), encode({})])
def test_a_damaged_entry_names_its_file_and_offset(value: bytes) -> None:
    with pytest.raises(CorruptFile, match=r"part-7: damaged at byte 42: not a WebDB entry"):
        decode_entry(value, "part-7", 42)


def test_an_entry_whose_text_is_not_utf8_is_damaged() -> None:
    broken = encode(msgspec.structs.replace(ENTRY, source="\x7f")).replace(b"\x7f", b"\xff")
    with pytest.raises(CorruptFile):
        decode_entry(broken)


@pytest.mark.parametrize("status", Status)
def test_validators_are_sent_only_where_a_304_confirms_what_we_made_of_a_page(status: Status) -> None:
    entry = msgspec.structs.replace(
        ENTRY, status=status, etag='"v1"', last_modified="Tue, 03 Nov 2026 11:22:33 GMT"
    )
    assert entry.live is (status in (Status.FETCHED, Status.UNCHANGED))
    confirms = entry.live or status is Status.DUPLICATE
    assert entry.validators == ((entry.etag, entry.last_modified) if confirms else ("", ""))


def test_an_excluded_page_is_confirmed_if_its_own_content_was_what_excluded_it() -> None:
    entry = msgspec.structs.replace(ENTRY, status=Status.EXCLUDED, etag='"v1"', last_tried=9, last_fetched=9)
    assert entry.validators[0] == '"v1"'
    assert msgspec.structs.replace(entry, last_tried=10).validators == ("", "")
