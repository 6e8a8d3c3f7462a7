from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.index import pieces as module
from crawlctl.pipeline.index.pieces import PieceTable

pieces = st.one_of(
    st.text("ab", min_size=1, max_size=3),
    st.text("ab", min_size=6, max_size=18),
    st.text(min_size=1, max_size=20).map(lambda text: "".join(text.split()) or "x"),
).map(str.encode)
gaps = st.sampled_from([b" ", b"  ", b"     "])
texts = st.lists(st.tuples(gaps, pieces), max_size=40).map(
    lambda found: b"".join(gap + piece for gap, piece in found)
)


def check(table: PieceTable, known: list[bytes], data: bytes) -> None:
    """Demand that each piece has the number under which it is known, or the next one if it is new."""
    numbers, new = table.numbers(data)
    known += new.split(b" ")[:-1]
    assert len(table) == len(known) == len(set(known))
    assert [known[number] for number in numbers] == [piece for piece in data.split(b" ") if piece]


@settings(deadline=None)
@given(st.lists(st.one_of(texts, texts.map(bytes.lstrip)), max_size=4))
def test_each_piece_keeps_its_number(batches: list[bytes]) -> None:
    table, known = PieceTable(), list[bytes]()
    for data in batches:
        check(table, known, data)


@settings(deadline=None)
@given(st.lists(texts, max_size=3))
def test_pieces_that_all_meet_in_one_slot_are_told_apart(batches: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_KEYS", np.zeros(3, np.uint64))
        table, known = PieceTable(), list[bytes]()
        for data in batches:
            check(table, known, data)


def test_a_table_grows_within_a_batch_and_between_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FIRST_SLOTS", 4)
    drawn, table, known = random.Random(1), PieceTable(), list[bytes]()
    for size in (3, 5, 4000, 30_000):
        words = [f"{'long' * 5 if n % 7 == 0 else 'p'}{drawn.randrange(2 * size)}" for n in range(size)]
        check(table, known, " ".join(words).encode())
    assert table.memory < 200 * len(table)


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 300])
def test_a_piece_and_its_beginning_differ(length: int) -> None:
    check(PieceTable(), [], b"a" * length + b" " + b"a" * (length + 1) + b" " + b"a" * length)


def test_what_stands_behind_a_piece_does_not_count() -> None:
    numbers, new = PieceTable().numbers(b"ab cdefgh ab xyz ab")
    assert sorted(new.split(b" ")) == [b"", b"ab", b"cdefgh", b"xyz"]
    assert numbers[0] == numbers[2] == numbers[4]
