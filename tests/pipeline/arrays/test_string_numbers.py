from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.arrays import string_numbers
from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.arrays.string_numbers import StringNumbers
from crawlctl.pipeline.text.words.token_arrays import chunks_of

chunk = st.one_of(
    st.text("ab", min_size=1, max_size=3),
    st.text("ab", min_size=6, max_size=36),
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20),
).map(str.encode)
rows = st.lists(chunk, max_size=40)


def check(table: StringNumbers, known: list[bytes], row: list[bytes]) -> None:
    """Demand that each string has the number under which it is known, or the next one if it is new."""
    numbers, new = table.numbers(strings_of(row))
    known += [row[place] for place in new]
    assert len(table) == len(known) == len(set(known))
    assert [known[number] for number in numbers] == row


@settings(deadline=None)
@given(st.lists(rows, max_size=4))
def test_each_string_keeps_its_number(batches: list[list[bytes]]) -> None:
    table, known = StringNumbers(), list[bytes]()
    for row in batches:
        check(table, known, row)


@settings(deadline=None)
@given(st.lists(rows, max_size=3))
def test_strings_that_all_meet_in_one_slot_are_told_apart(batches: list[list[bytes]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(string_numbers, "_HASH_KEYS", np.zeros(3, np.uint64))
        table, known = StringNumbers(), list[bytes]()
        for row in batches:
            check(table, known, row)


def test_a_table_grows_within_a_batch_and_between_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(string_numbers, "_FIRST_SLOTS", 4)
    drawn, table, known = random.Random(1), StringNumbers(), list[bytes]()
    for size in (3, 5, 4000, 30_000):
        heads = ["long" * (n % 11) if n % 7 == 0 else "p" for n in range(size)]
        check(table, known, [f"{head}{drawn.randrange(2 * size)}".encode() for head in heads])
    assert table.memory < 200 * len(table)


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 300])
def test_a_string_and_its_beginning_differ(length: int) -> None:
    check(StringNumbers(), [], [b"a" * length, b"a" * (length + 1), b"a" * length])


def test_long_strings_with_the_same_halves_are_told_apart() -> None:
    one, other = b"a" * 16, b"b" * 16
    row = [one, other, one + other, other + one, one + one, other + other, one * 3, one + other + one]
    check(StringNumbers(), [], row * 2)


def test_what_stands_behind_a_string_does_not_count() -> None:
    numbers, new = StringNumbers().numbers(chunks_of(b"ab cdefgh ab xyz ab"))
    assert len(new) == 3
    assert numbers[0] == numbers[2] == numbers[4]
