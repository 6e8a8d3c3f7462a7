"""Each function that reads or patches packed bytes does what decoding and encoding the entry would do."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.text.likeness.fingerprint import SIGNATURE_BYTES
from crawlctl.pipeline.webdb import packed
from crawlctl.pipeline.webdb.records import Status, WebEntry, decode_entry, encode

NOW = 1_800_000_000
OLDEST_FIELDS = 16  # of an entry that the first release wrote

# Numbers of every length that msgpack has, and most often those of real crawls.
numbers = st.one_of(
    st.integers(0, 300),
    st.sampled_from([2**power + off for power in (7, 8, 16, 32) for off in (-1, 0, 1)]),
    st.integers(0, 2**40),
)
times = st.one_of(st.integers(NOW - 10**7, NOW + 10**7), numbers)
scores = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, allow_infinity=False, allow_nan=False))
urls = st.one_of(st.just(""), st.from_regex(r"https://[a-z]{1,9}\.example/[!-~]{0,40}", fullmatch=True))
# The bytes of some dates look like the ends of fields.
listed_dates = st.one_of(
    st.just(0), st.integers(NOW - 10**9, NOW), st.sampled_from([0x6553A000, 0x6553CEA0, 0x65A00000])
)
entries = st.builds(
    WebEntry,
    status=st.sampled_from(Status),
    next_due=times,
    score=scores,
    depth=numbers,
    first_seen=times,
    last_tried=times,
    last_fetched=times,
    last_changed=times,
    interval=numbers,
    tries=st.integers(0, 9),
    code=st.sampled_from([0, 200, 404]),
    signature=st.one_of(st.binary(max_size=3), st.binary(min_size=SIGNATURE_BYTES, max_size=SIGNATURE_BYTES)),
    etag=st.text(max_size=5),
    anchors=st.lists(st.text(max_size=5), max_size=3).map(tuple),
    redirect_to=urls,
    source=urls,
    links_taken=numbers,
    named=urls,
    lastmod=listed_dates,
    published=listed_dates,
)


def older(entry: WebEntry, fields: int) -> bytes:
    """Return an entry as an older release has packed it: the last fields are missing."""
    return encode(msgspec.msgpack.decode(encode(entry))[:fields])


field_counts = st.integers(OLDEST_FIELDS, len(WebEntry.__struct_fields__))
packed_entries = st.one_of(entries.map(encode), st.builds(older, entries, field_counts))


@given(packed_entries)
def test_status_and_leading_fields(value: bytes) -> None:
    entry = decode_entry(value)
    assert value[packed.STATUS] == entry.status
    leading = packed.leading_fields(value)
    assert leading == packed.Leading(entry.status, entry.next_due, entry.score, entry.depth)


@given(packed_entries)
def test_visit_fields(value: bytes) -> None:
    entry, visits = decode_entry(value), packed.visit_fields(value)
    for name in packed.VisitFields.__struct_fields__:
        assert getattr(visits, name) == getattr(entry, name)


def test_bytes_without_visits_are_damage_that_names_its_place() -> None:
    with pytest.raises(CorruptFile, match="part: damaged at byte 7: not a WebDB entry"):
        packed.visit_fields(encode([1, "x"]), "part", 7)


@given(st.lists(packed_entries, max_size=20))
def test_statuses(values: list[bytes]) -> None:
    assert [*packed.statuses(values)] == [decode_entry(value).status for value in values]


@given(st.lists(packed_entries, max_size=20))
def test_leading_columns(values: list[bytes]) -> None:
    found, decoded = packed.leading_columns(values), [decode_entry(value) for value in values]
    assert found.statuses.tolist() == [entry.status for entry in decoded]
    assert found.due.tolist() == [entry.next_due for entry in decoded]
    assert found.seeds.tolist() == [row for row, entry in enumerate(decoded) if entry.depth == 0]


@given(st.lists(packed_entries, max_size=20), times)
def test_due_entries_are_counted(values: list[bytes], now: int) -> None:
    due = sum(decode_entry(value).next_due <= now for value in values)
    assert packed.count_due(values, packed.due_mark(now)) == due


@given(numbers)
def test_an_entry_is_due_from_its_second_on(due: int) -> None:
    value = encode(WebEntry(Status.UNFETCHED, due, 0.0, 0, 0))
    moments = [now for now in (due - 1, due, due + 1) if now >= 0]
    for now in moments:
        assert packed.count_due([value], packed.due_mark(now)) == (now >= due)


@given(st.lists(packed_entries, max_size=20), times, scores)
def test_due_rows_of_a_lowest_score(values: list[bytes], now: int, lowest: float) -> None:
    keys = [b"%d" % number for number in range(len(values))]
    rows = packed.due_rows(keys, values, packed.due_mark(now), packed.score_mark(lowest))
    found = {key for key, _ in rows}
    assert rows == [row for row in zip(keys, values, strict=True) if row[0] in found]
    for key, value in zip(keys, values, strict=True):
        entry = decode_entry(value)
        if entry.next_due > now:
            assert key not in found
        elif entry.score >= lowest or not 2**16 <= entry.next_due < 2**32:
            assert key in found
        else:
            assert key not in found, "the score of a usual entry is compared without decoding it"


@given(st.lists(packed_entries, max_size=20), times)
def test_due_rows_of_any_score(values: list[bytes], now: int) -> None:
    due = [value for value in values if decode_entry(value).next_due <= now]
    assert [value for _, value in packed.due_rows(values, values, packed.due_mark(now))] == due


@given(packed_entries, scores)
def test_with_score(value: bytes, score: float) -> None:
    assert decode_entry(packed.with_score(value, score)) == replace(decode_entry(value), score=score)


@given(packed_entries)
def test_the_signature_is_right_if_it_is_found(value: bytes) -> None:
    entry, signature = decode_entry(value), packed.signature_of(value)
    assert signature is None or not entry.live or signature == entry.signature


@given(entries, st.binary(min_size=SIGNATURE_BYTES, max_size=SIGNATURE_BYTES))
def test_the_signature_of_a_usual_entry_is_found(entry: WebEntry, signature: bytes) -> None:
    moments = dict.fromkeys(("next_due", "first_seen", "last_tried", "last_fetched", "last_changed"), NOW)
    usual = replace(entry, **moments, depth=3, interval=10**6, code=200, signature=signature)
    assert packed.signature_of(encode(usual)) == signature


@given(packed_entries)
def test_the_signature_of_a_page_that_names_another_is_not_plain(value: bytes) -> None:
    plain = None if decode_entry(value).named else packed.signature_of(value)
    assert packed.plain_signature(value) in (None, plain)


@given(entries, field_counts)
def test_the_signature_of_a_usual_page_that_names_no_other_is_plain(entry: WebEntry, fields: int) -> None:
    value = older(replace(entry, named="", links_taken=0), fields)
    assert packed.plain_signature(value) == packed.signature_of(value)


@pytest.mark.parametrize("value", [b"", b"\xdc\x00\x17"])
def test_a_value_too_short_for_a_status_is_damage(value: bytes) -> None:
    with pytest.raises(CorruptFile, match="part-7: damaged at byte 42: a value too short"):
        packed.statuses([value], "part-7", 42)
    with pytest.raises(CorruptFile, match="part-7: damaged at byte 42: a value too short"):
        packed.leading_columns([value], "part-7", 42)


@pytest.mark.parametrize("value", [b"", b"\xc1", encode([99, 0, 0.0, 0]), encode({})])
def test_leading_fields_of_a_damaged_entry_name_its_file_and_offset(value: bytes) -> None:
    with pytest.raises(CorruptFile, match="part-7: damaged at byte 42: not a WebDB entry"):
        packed.leading_fields(value, "part-7", 42)
