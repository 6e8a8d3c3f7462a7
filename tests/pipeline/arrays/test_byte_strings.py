from __future__ import annotations

from itertools import chain, pairwise, starmap
from operator import lt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import (
    MAX_MOVED_BYTES,
    ByteStrings,
    are_rising,
    byte_order,
    chained,
    cut_at,
    distinct,
    first_of_equals,
    replaced,
    strings_of,
)

# Many that begin alike, end in zeros, or are as long as the keys that are compared first.
likely = st.builds(
    lambda head, size, tail: head * size + tail,
    st.sampled_from([b"a", b"\0", b"\xff"]),
    st.sampled_from([0, 1, 7, 8, 9, 15, 16, 17, 32, 33]),
    st.binary(max_size=3),
)
rows = st.lists(st.binary(max_size=40) | likely, max_size=30)
many_rows = st.lists(st.integers(0, 90).map(lambda size: b"uvwxyz012345"[: size % 7] * size), min_size=40)
long_rows = st.lists(likely | st.integers(0, 3 * MAX_MOVED_BYTES).map(lambda size: b"xyz" * size), max_size=6)


def scattered(row: list[bytes]) -> ByteStrings:
    """Return the strings as they lie in others, the last one first, with bytes between them."""
    held = strings_of([b"!!", *(part for string in reversed(row) for part in (string, b"?"))])
    return held.take(np.arange(2 * len(row) - 1, 0, -2))


@given(rows)
def test_strings_are_those_they_were_made_of(row: list[bytes]) -> None:
    for strings in (strings_of(row), scattered(row), scattered(row).trimmed()):
        assert len(strings) == len(row)
        assert strings.tolist() == list(strings) == [strings[place] for place in range(len(row))] == row


@given(rows, st.integers(0, 30), st.integers(0, 30), st.lists(st.integers(0, 29), max_size=9))
def test_some_are_chosen_as_of_a_list(row: list[bytes], start: int, stop: int, places: list[int]) -> None:
    strings = scattered(row)
    assert strings.between(start, stop).tolist() == row[start:stop]
    chosen = [place for place in places if place < len(row)]
    assert strings.take(np.array(chosen, np.intp)).tolist() == [row[place] for place in chosen]
    mask = np.array([len(string) % 2 for string in row], np.bool_)
    assert strings.take(mask).tolist() == [string for string in row if len(string) % 2]


@given(rows | long_rows | many_rows, st.integers(0, 5), st.integers(0, 5))
@example([b"x" * (size % 7) for size in range(40)] + [b"yz" * size for size in range(40)], 1, 2)
def test_strings_are_laid_out_with_room_around_each(row: list[bytes], before: int, behind: int) -> None:
    octets, starts = scattered(row).laid_out(before, behind)
    assert len(octets) == sum(map(len, row)) + (before + behind) * len(row)
    lengths = np.array([*map(len, row)], np.int64)
    assert ByteStrings(octets, starts, lengths).tolist() == row
    assert (starts + lengths + behind == np.append(starts[1:] - before, len(octets))[: len(row)]).all()


@given(st.lists(rows, min_size=1, max_size=4))
def test_parts_are_chained_in_their_order(parts: list[list[bytes]]) -> None:
    assert chained([scattered(part) for part in parts]).tolist() == [*chain.from_iterable(parts)]


def test_what_is_chained_again_and_again_does_not_keep_all_bytes() -> None:
    held = strings_of([b"first" * 99, b"last"])
    for _ in range(9):
        held = chained([held.between(len(held) - 1, len(held)), strings_of([b"more" * 99, b"more"])])
    assert len(held.octets) < 2 * 99 * len(b"more")


@given(rows, st.dictionaries(st.integers(0, 29), likely, max_size=5))
def test_some_are_replaced_by_others(row: list[bytes], others: dict[int, bytes]) -> None:
    others = {place: string for place, string in others.items() if place < len(row)}
    expected = [others.get(place, string) for place, string in enumerate(row)]
    assert replaced(scattered(row), others).tolist() == expected


@given(st.lists(st.binary(max_size=9).map(lambda string: string.replace(b" ", b"")), max_size=9))
def test_strings_are_cut_at_separators(row: list[bytes]) -> None:
    joined = b"".join([string + b" " for string in row])
    assert cut_at(ord(" "), np.frombuffer(joined, np.uint8)).tolist() == row


@given(rows)
def test_the_order_is_that_of_bytes_and_stable(row: list[bytes]) -> None:
    assert byte_order(scattered(row)).tolist() == sorted(range(len(row)), key=row.__getitem__)


@given(rows, st.booleans())
def test_rising_is_above_the_one_before(row: list[bytes], in_order: bool) -> None:
    row = sorted(row) if in_order else row
    assert are_rising(scattered(row)) == all(starmap(lt, pairwise(row)))


@given(rows)
def test_the_first_of_equals_differs_from_the_one_before(row: list[bytes]) -> None:
    row = sorted(row)
    expected = [place == 0 or string != row[place - 1] for place, string in enumerate(row)]
    assert first_of_equals(scattered(row)).tolist() == expected


@given(rows)
def test_distinct_strings_are_numbered_in_order(row: list[bytes]) -> None:
    strings, numbers = distinct(scattered(row))
    assert strings.tolist() == sorted(set(row))
    assert [strings[number] for number in numbers.tolist()] == row


def test_a_place_that_is_not_there_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        strings_of([b"a"])[1]
