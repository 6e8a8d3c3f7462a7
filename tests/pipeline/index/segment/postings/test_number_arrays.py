from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.index.segment.postings.number_arrays import (
    NumbersWriter,
    pack_array,
    put,
    read_array,
    read_arrays,
)
from crawlctl.pipeline.index.segment.postings.short_numbers import has_zero, read_numbers

lengths = st.one_of(st.sampled_from([0, 1, 2, 63, 64, 65, 200]), st.integers(0, 20))
number = st.one_of(st.integers(1, 300), st.sampled_from([223, 224, 8159, 8160, (1 << 24) - 1]))


@given(st.lists(st.tuples(lengths, st.integers(0, 3), st.integers(0, 3))))
def test_ranges_are_copied_behind_their_bases(rows: list[tuple[int, int, int]]) -> None:
    sizes, before, between = (np.array(column, np.int64) for column in zip(*rows, (0, 0, 0), strict=True))
    octets = np.arange(int((sizes + before).sum()), dtype=np.int64).astype(np.uint8)
    starts, base = starts_of(sizes + before) + before, starts_of(sizes + between) + between
    blob = np.full(int((sizes + between).sum()), 7, np.uint8)
    put(blob, base, octets, starts, sizes)
    expected = b"".join(
        bytes([7] * gap) + octets[start : start + size].tobytes()
        for size, gap, start in zip(sizes.tolist(), between.tolist(), starts.tolist(), strict=True)
    )
    assert blob.tobytes() == expected


@given(st.lists(st.tuples(st.lists(number, max_size=90), st.integers(0, 2)), min_size=1))
def test_numbers_between_lists_are_left_out(rows: list[tuple[list[int], int]]) -> None:
    numbers = np.array([x for some, between in rows for x in (*[1] * between, *some)], np.int64)
    counts, between = (
        np.array(column) for column in zip(*((len(some), gap) for some, gap in rows), strict=True)
    )
    writer = NumbersWriter(numbers, counts, starts_of(counts + between) + between)
    base = starts_of(writer.sizes)
    blob = np.empty(int(writer.sizes.sum()), np.uint8)
    writer.write(blob, base)
    found, ends = read_arrays(blob, base, counts, base + writer.sizes)
    assert found.tolist() == [x for some, _ in rows for x in some]
    assert (ends == base + writer.sizes).all()


@given(st.lists(number), st.binary(max_size=3))
def test_all_readers_find_the_numbers_of_a_list(numbers: list[int], before: bytes) -> None:
    body = before + pack_array(np.array(numbers, np.int64)) + b"more"
    plain, end = read_numbers(body, len(before), len(numbers))
    array, array_end = read_array(np.frombuffer(body, np.uint8), len(before), len(numbers))
    assert list(plain) == array.tolist() == numbers
    assert has_zero(body, len(before), len(numbers)) == (0 in numbers)
    assert end == array_end == len(body) - len(b"more")
