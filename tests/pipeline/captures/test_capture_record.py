from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.captures.capture_record import (
    CaptureRecord,
    decode_captures,
    encode_captures,
    joined,
    media_type,
    original_of,
)
from crawlctl.pipeline.errors import CorruptFile

if TYPE_CHECKING:
    from random import Random

NUMBERS = st.integers(0, 1 << 40)
CAPTURES = st.builds(
    CaptureRecord,
    *(NUMBERS, st.integers(0, 999), st.text(max_size=9), st.text(max_size=9)),
    file=st.sampled_from(["pages/00000/00000001-a.warc.gz", "/home/me/x.warc", "s3://b/x.warc.gz"]),
    offset=NUMBERS,
    length=NUMBERS,
    request=NUMBERS,
    is_revisit=st.booleans(),
)


@given(st.lists(CAPTURES))
def test_captures_are_read_as_they_were_written(captures: list[CaptureRecord]) -> None:
    assert decode_captures(encode_captures(captures)) == captures


@given(st.binary(max_size=60))
def test_damage_is_a_corrupt_file(data: bytes) -> None:
    try:
        decode_captures(data, "here", 7)
    except CorruptFile as err:
        assert (err.name, err.offset) == ("here", 7)


@given(st.lists(CAPTURES), st.randoms(use_true_random=False))
def test_captures_are_joined_in_any_order_and_each_once(
    captures: list[CaptureRecord], chance: Random
) -> None:
    places = {(one.file, one.offset, one.time): one for one in captures}
    once = list(places.values())
    shuffled = [*once, *once]
    chance.shuffle(shuffled)
    found = joined(shuffled)
    assert found == joined(once)
    assert len(found) == len(places)
    assert [one.time for one in found] == sorted(one.time for one in once)


def capture(time: int, status: int = 200, *, is_revisit: bool = False) -> CaptureRecord:
    return CaptureRecord(time, status, "", "", "pages/x", time, 1, is_revisit=is_revisit)


def test_a_revisit_leads_to_the_last_content_before_it() -> None:
    captures = [capture(1), capture(2), capture(3, 404), capture(4, 304, is_revisit=True), capture(5)]
    assert original_of(captures[3], captures) == captures[1]
    assert original_of(captures[2], captures) == captures[2]
    assert original_of(captures[3], captures[2:]) is None


@pytest.mark.parametrize(
    ("header", "wanted"),
    [("Text/HTML; charset=x", "text/html"), ("", ""), (" a/b ", "a/b"), ("x" * 999, "x" * 128)],
)
def test_a_media_type_has_no_parameters_and_is_short(header: str, wanted: str) -> None:
    assert media_type(header) == wanted


def test_the_name_says_whether_an_archive_is_in_the_store() -> None:
    files = {"pages/00000/x.warc.gz": False, "/pages/x.warc": True, "s3://pages/x.warc.gz": True}
    found = {file: CaptureRecord(0, 200, "", "", file, 0, 1).is_imported for file in files}
    assert found == files
