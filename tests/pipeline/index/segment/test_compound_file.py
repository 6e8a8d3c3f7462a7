"""Compound files: what is written is found again, and damage is never taken for data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.segment.compound_file import CompoundFile, write_compound
from crawlctl.tests.pipeline.search.memory_store import MemoryStore

RANGES = st.dictionaries(
    st.tuples(st.sampled_from(["a", "b/c"]), st.integers(0, 1 << 40)), st.binary(max_size=20), max_size=5
)


def written(ranges: dict[tuple[str, int], bytes]) -> bytes:
    store = MemoryStore()
    return store.files[write_compound(store, ranges, round_number=1).name]


@given(RANGES, st.integers(0, 20), st.integers(0, 20))
def test_every_part_of_a_range_is_found(
    ranges: dict[tuple[str, int], bytes], first: int, length: int
) -> None:
    found = CompoundFile(written(ranges), "compound")
    assert found.ranges() == ranges
    for (file, start), data in ranges.items():
        part = data[first : first + length]
        if part:
            assert found.find(file, start, len(data)) == data
            assert found.find("another", start, len(part)) is None


def test_what_lies_beyond_a_range_is_not_found() -> None:
    found = CompoundFile(written({("a", 5): b"abc"}), "compound")
    assert found.find("a", 6, 2) == b"bc"
    assert found.find("a", 4, 2) is None
    assert found.find("a", 7, 2) is None


@given(st.data())
def test_a_changed_byte_is_found_or_harmless(data: st.DataObject) -> None:
    ranges = {("a", 0): b"abcdef", ("b", 3): b"ghi"}
    sound = bytearray(written(ranges))
    sound[data.draw(st.integers(0, len(sound) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        found = CompoundFile(bytes(sound), "compound")
    except CorruptFile:
        return
    for (file, start), expected in ranges.items():
        assert found.find(file, start, len(expected)) in (None, expected)


@pytest.mark.parametrize("length", range(40))
def test_a_file_that_is_cut_off_gives_nothing_wrong(length: int) -> None:
    sound = written({("a", 0): b"abcdef"})
    try:
        found = CompoundFile(sound[:length], "compound")
    except CorruptFile:
        return
    assert found.find("a", 0, 6) in (None, b"abcdef")
