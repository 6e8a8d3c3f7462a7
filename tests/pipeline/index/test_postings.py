from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.index.postings import MAX_NUMBER, Lists, decode_list, decode_lists, encode_lists

Plain = dict[int, list[int]]  # document → positions

numbers = st.one_of(st.integers(0, 5), st.integers(0, 300), st.integers(0, MAX_NUMBER))
positions = st.lists(numbers, min_size=1, max_size=8, unique=True).map(sorted)
plain_lists = st.dictionaries(numbers, positions, min_size=1, max_size=8).map(
    lambda found: dict(sorted(found.items()))
)


def lists_of(plain: list[Plain]) -> Lists:
    documents = [document for found in plain for document in found]
    places = [found[document] for found in plain for document in found]
    columns = (
        [*map(len, plain)],
        documents,
        [*map(len, places)],
        [place for held in places for place in held],
    )
    return Lists(*(np.array(column, np.int64) for column in columns))


def read(value: bytes, documents: int = MAX_NUMBER + 1) -> Plain:
    found = decode_list(value, documents)
    assert found.frequencies == [*map(len, found.positions)]
    return dict(zip(found.documents, found.positions, strict=True))


def equal(one: Lists, other: Lists) -> bool:
    return all(np.array_equal(mine, theirs) for mine, theirs in zip(one, other, strict=True))


@settings(deadline=None)
@given(st.lists(plain_lists, max_size=6))
def test_both_decoders_give_back_what_was_encoded(plain: list[Plain]) -> None:
    values = encode_lists(lists_of(plain))
    assert [read(value) for value in values] == plain
    assert equal(decode_lists(values, MAX_NUMBER + 1), lists_of(plain))


@settings(deadline=None)
@given(plain_lists, st.binary(max_size=12), st.integers(0, 40), st.integers(1, 400))
def test_both_decoders_judge_damage_alike(plain: Plain, noise: bytes, place: int, documents: int) -> None:
    (value,) = encode_lists(lists_of([plain]))
    for hurt in (noise, value[:place] + noise + value[place + len(noise) :], value[:place], value + noise):
        try:
            found = read(hurt, documents)
        except ValueError:
            with pytest.raises(ValueError, match="posting list"):
                decode_lists([hurt], documents)
        else:
            assert equal(decode_lists([hurt], documents), lists_of([found]))
            assert max(found) < documents


@settings(deadline=None)
@given(plain_lists, plain_lists, st.binary(max_size=6))
def test_one_damaged_list_among_sound_ones_is_noticed(before: Plain, after: Plain, noise: bytes) -> None:
    first, last = encode_lists(lists_of([before, after]))
    try:
        found = read(noise)
    except ValueError:
        for values in ([noise, first, last], [first, noise, last], [first, last, noise]):
            with pytest.raises(ValueError, match="posting list"):
                decode_lists(values, MAX_NUMBER + 1)
    else:
        assert equal(decode_lists([first, noise, last], MAX_NUMBER + 1), lists_of([before, found, after]))


def test_the_layout_is_as_documented() -> None:
    (value,) = encode_lists(lists_of([{3: [7], 0x20004: [0, 0x102]}]))
    head = 1 | 3 << 2 | 1 << 4 | 2 << 6
    gaps = bytes([3, 0, 0, 0, 0, 2])
    assert value == bytes([head, 2]) + gaps + bytes([0, 1]) + bytes([7, 0, 1, 0, 0, 1])


def test_a_term_that_stands_once_takes_four_bytes() -> None:
    assert encode_lists(lists_of([{5: [9]}])) == [bytes([1 | 1 << 2 | 1 << 6, 1, 5, 9])]


def test_damage_cannot_claim_more_than_the_bytes_there_are() -> None:
    value = bytes([3 | 1 << 2 | 1 << 6, 255, 255, 255, 0, 0])
    for decode in (lambda: decode_list(value, 9), lambda: decode_lists([value], 9)):
        with pytest.raises(ValueError, match="cut off"):
            decode()


@pytest.mark.parametrize(
    "wrong",
    [
        Lists(*map(np.array, ([2], [4, 4], [1, 1], [0, 0]))),
        Lists(*map(np.array, ([1], [4], [2], [3, 3]))),
        Lists(*map(np.array, ([1], [MAX_NUMBER + 1], [1], [0]))),
        Lists(*map(np.array, ([1], [0], [1], [MAX_NUMBER + 1]))),
        Lists(*map(np.array, ([0, 1], [0], [1], [0]))),
    ],
)
def test_what_cannot_be_read_back_is_not_written(wrong: Lists) -> None:
    with pytest.raises(ValueError, match=r"rise or exceed|without documents"):
        encode_lists(wrong)
