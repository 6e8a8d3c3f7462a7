from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.arrays.sorted_merge import merge_sorted, number_strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings

words = st.builds(bytes.__add__, st.sampled_from([b"", b"long" * 4]), st.binary(max_size=2))
tables = st.lists(st.dictionaries(words, st.integers(1, 9), max_size=12), max_size=4)


class Sizes:
    """Numbers that are their own sizes."""

    def __init__(self, found: Sequence[list[int]]) -> None:
        self._numbers = [number for some in found for number in some]
        self.ends = np.cumsum([0, *self._numbers])

    def between(self, start: int, stop: int) -> list[int]:
        return self._numbers[start:stop]


def cut(table: dict[bytes, int], length: int) -> Iterator[tuple[ByteStrings, list[int]]]:
    rows = sorted(table.items())
    for start in range(0, len(rows), length):
        some = rows[start : start + length]
        yield strings_of([word for word, _ in some]), [number for _, number in some]


@given(tables, st.integers(1, 5), st.integers(1, 60))
def test_equal_strings_of_all_sources_come_in_one_step(
    tables: list[dict[bytes, int]], length: int, size: int
) -> None:
    merged: dict[bytes, list[tuple[int, int]]] = {}
    for taken in merge_sorted([cut(table, length) for table in tables], sum, Sizes, size):
        step: dict[bytes, list[tuple[int, int]]] = {}
        for one in taken:
            for word, number in zip(one.strings, one.columns, strict=True):
                step.setdefault(word, []).append((one.source, number))
        assert step and (not merged or min(step) > max(merged))
        held = sum(number for found in step.values() for _, number in found)
        assert held <= size or all(len(one.strings) == 1 for one in taken)
        merged |= dict(sorted(step.items()))
    assert merged == {
        word: [(number, table[word]) for number, table in enumerate(tables) if word in table]
        for word in sorted(set().union(*tables))
    }


@given(tables)
def test_strings_of_a_step_are_numbered_in_order(tables: list[dict[bytes, int]]) -> None:
    for taken in merge_sorted([cut(table, 3) for table in tables], sum, Sizes, 1000):
        strings, numbers = number_strings(taken)
        assert strings.tolist() == sorted({word for one in taken for word in one.strings})
        for one, found in zip(taken, numbers, strict=True):
            assert strings.take(found).tolist() == one.strings.tolist()


def test_without_sources_there_are_no_steps() -> None:
    nothing: list[Iterator[tuple[ByteStrings, list[int]]]] = []
    assert list(merge_sorted(nothing, sum, Sizes, 9)) == []
