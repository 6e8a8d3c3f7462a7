from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.index.segment.postings.plain_lists import PackedList
from crawlctl.pipeline.index.segment.term_info import MAX_INLINED_BYTES, decode_term_info, pack_term_infos

lists = st.lists(
    st.builds(
        PackedList, st.integers(1, 20), st.integers(1, 255), st.binary(max_size=50), st.binary(max_size=50)
    )
)


@given(lists, st.integers(0, 2**60), st.binary(max_size=3), st.binary(max_size=3), st.integers(0, 65535))
def test_places_are_read_as_they_were_written(
    written: list[PackedList], offset: int, before: bytes, behind: bytes, segment: int
) -> None:
    entries, parts = pack_term_infos(written, offset)
    postings = b"".join(parts)
    for packed, entry in zip(written, entries, strict=True):
        place, end = decode_term_info(before + entry + behind, len(before), segment)
        assert end == len(before) + len(entry)
        assert (place.segment, place.count, place.max_impact) == (segment, packed.count, packed.max_impact)
        sizes = (len(packed.documents), len(packed.positions))
        assert (place.documents_bytes, place.positions_bytes) == sizes
        start = place.offset - offset
        there = place.inlined or postings[start : start + place.documents_bytes + place.positions_bytes]
        assert there == packed.documents + packed.positions


@pytest.mark.parametrize(
    ("packed", "inlined"),
    [
        (PackedList(8, 1, b"d" * MAX_INLINED_BYTES, b""), True),
        (PackedList(9, 1, b"d", b"p"), False),
        (PackedList(1, 1, b"d" * MAX_INLINED_BYTES, b"p"), False),
    ],
)
def test_only_rare_terms_carry_their_lists(packed: PackedList, inlined: bool) -> None:
    (entry,), parts = pack_term_infos([packed], 7)
    assert bool(decode_term_info(entry)[0].inlined) is inlined
    assert bool(parts) is not inlined


@given(st.binary(max_size=40))
def test_damage_is_a_value_error(data: bytes) -> None:
    try:
        place, end = decode_term_info(data)
    except ValueError:
        return
    assert end <= len(data)
    assert place.count >= 0


@pytest.mark.parametrize("cut", [0, 3, 21])
def test_a_place_that_is_cut_off_is_damage(cut: int) -> None:
    (entry,), _ = pack_term_infos([PackedList(9, 1, b"d", b"p")], 7)
    with pytest.raises(ValueError, match="cut off"):
        decode_term_info(entry[:cut])
