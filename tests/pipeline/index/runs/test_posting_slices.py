from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.index.runs.posting_slices import decode_slice, encode_slice, plain_lists
from crawlctl.pipeline.index.segment.postings.short_numbers import MAX_NUMBER
from crawlctl.tests.pipeline.index.segment.postings.list_columns import lists_from

if TYPE_CHECKING:
    from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists

Plain = dict[bytes, dict[int, list[int]]]  # term → document → positions

numbers = st.one_of(st.integers(0, 5), st.integers(0, 300), st.integers(0, MAX_NUMBER - 1))
positions = st.lists(numbers, min_size=1, max_size=8, unique=True).map(sorted)
lists = st.dictionaries(numbers, positions, min_size=1, max_size=8).map(
    lambda found: dict(sorted(found.items()))
)
terms = st.one_of(st.sampled_from([b"", b"a", b"ab"]), st.text("abc\u00e9", max_size=70).map(str.encode))
slices = st.dictionaries(terms, lists, min_size=1, max_size=6).map(lambda found: dict(sorted(found.items())))


def lists_of(plain: Plain) -> Lists:
    documents = [document for found in plain.values() for document in found]
    places = [held for found in plain.values() for held in found.values()]
    columns = (
        [*map(len, plain.values())],
        documents,
        [*map(len, places)],
        [place for held in places for place in held],
    )
    return lists_from(*(np.array(column, np.int64) for column in columns))


def packed(plain: Plain) -> bytes:
    return encode_slice(strings_of(list(plain)), lists_of(plain))


def read(value: bytes, documents: int = MAX_NUMBER) -> Plain:
    found, held = decode_slice(value, documents)
    return {
        term: dict(zip(*postings, strict=True))
        for term, postings in zip(found, plain_lists(held), strict=True)
    }


@settings(deadline=None)
@given(slices)
def test_a_slice_comes_back_as_it_was(plain: Plain) -> None:
    assert read(packed(plain)) == plain
    _, found = decode_slice(packed(plain), MAX_NUMBER)
    assert all(map(np.array_equal, found[:4], lists_of(plain)[:4]))


@settings(deadline=None)
@given(slices, st.binary(max_size=12), st.integers(0, 60), st.integers(1, 400))
def test_a_damaged_slice_is_a_slice_or_a_value_error(
    plain: Plain, noise: bytes, place: int, documents: int
) -> None:
    value = packed(plain)
    for hurt in (noise, value[:place] + noise + value[place + len(noise) :], value[:place], value + noise):
        try:
            found = read(hurt, documents)
        except ValueError:
            continue
        assert list(found) == sorted(found)
        assert all(max(held) < documents for held in found.values())
        assert packed(found) == hurt


def test_the_layout_is_as_documented() -> None:
    value = packed({b"a": {3: [7], 0x204: [0, 0x20000A]}, b"bc": {0: [1]}})
    counts, frequencies = bytes([2, 1]), bytes([1, 2, 1])
    ordinals = bytes([4, 225, 1]) + bytes([0x201 - 0x1E0])
    places = bytes([8, 1, 255, 2]) + bytes([0x0A, 0, 0x20])
    assert value == bytes([4, 0, 0, 0]) + b"a bc" + counts + ordinals + frequencies + places


def test_damage_cannot_claim_more_than_the_bytes_there_are() -> None:
    claims = bytes([1, 0, 0, 0]) + b"a" + bytes([255, 255, 255, 255])
    for value in (claims, claims + bytes(9), b"\xff\xff\xff\xff"):
        with pytest.raises(ValueError, match="posting list"):
            decode_slice(value, 9)


@pytest.mark.parametrize(
    "wrong",
    [
        lists_from(*map(np.array, ([2], [4, 4], [1, 1], [0, 0]))),
        lists_from(*map(np.array, ([1], [4], [2], [3, 3]))),
        lists_from(*map(np.array, ([1], [MAX_NUMBER], [1], [0]))),
        lists_from(*map(np.array, ([1], [0], [1], [MAX_NUMBER]))),
        lists_from(*map(np.array, ([0], [], [], []))),
    ],
)
def test_what_cannot_be_read_back_is_not_written(wrong: Lists) -> None:
    with pytest.raises(ValueError, match=r"rise or reach|without documents"):
        encode_slice(strings_of([b"a"]), wrong)
