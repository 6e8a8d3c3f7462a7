"""Packed lines answer as a list of lines does, before and after they are split."""

from __future__ import annotations

from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.words import packed_lines
from crawlctl.pipeline.index.words.checked_blocks import lines_block
from crawlctl.pipeline.index.words.packed_lines import PackedLines

texts = st.text(alphabet="abé ", max_size=4)


@pytest.mark.parametrize("few", [0, 3, 1000])
@given(lines=st.lists(texts, max_size=40), wanted=texts)
def test_lines_are_those_that_were_packed(few: int, lines: list[str], wanted: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_lines, "_FEW", few)
        patch.setattr(packed_lines, "_WINDOW", 8)
        packed = PackedLines(lines_block(lines), len(lines), "t")
        expected = [line.encode() for line in lines]
        assert [packed[index] for index in range(len(packed))] == expected
        assert list(packed) == expected
        assert len(packed) == len(lines)
        rising = sorted(expected)
        ordered = PackedLines(lines_block(line.decode() for line in rising), len(lines), "t")
        assert ordered.first_from(wanted.encode()) == bisect_left(rising, wanted.encode())
        assert ordered.first_from(b"\xff") == len(rising)


def test_a_line_that_is_not_there_is_an_index_error() -> None:
    packed = PackedLines(lines_block(["a", "b"]), 2, "t")
    for index in (2, 9, -3):
        with pytest.raises(IndexError):
            packed[index]


@pytest.mark.parametrize("few", [0, 1000])
def test_a_wrong_number_of_lines_is_damage(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_lines, "_FEW", few)
    with pytest.raises(CorruptFile, match="2 lines where 3 should be"):
        PackedLines(lines_block(["a", "b"]), 3, "t")[1]
    with pytest.raises(CorruptFile, match="cannot be inflated"):
        PackedLines(b"\xff\xff", 3, "t").first_from(b"a")
