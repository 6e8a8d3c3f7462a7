from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.index.segment.postings.number_arrays import NumbersWriter, read_arrays
from crawlctl.pipeline.index.segment.postings.short_numbers import gather, put, scatter

lengths = st.one_of(st.sampled_from([0, 1, 2, 63, 64, 65, 200]), st.integers(0, 20))
number = st.one_of(st.integers(1, 300), st.sampled_from([223, 224, 8159, 8160, (1 << 24) - 1]))


@given(st.lists(st.tuples(lengths, st.integers(0, 3), st.integers(0, 3))))
def test_stretches_come_to_lie_behind_their_bases(rows: list[tuple[int, int, int]]) -> None:
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


@given(st.lists(st.tuples(st.lists(st.integers(0, (1 << 24) - 1), max_size=5), st.integers(0, 3))))
def test_what_is_scattered_is_gathered(rows: list[tuple[list[int], int]]) -> None:
    rows = [([x & ((1 << 8 * planes) - 1) for x in some], planes) for some, planes in rows]
    numbers = np.array([x for some, _ in rows for x in some], np.int64)
    counts = np.array([len(some) for some, _ in rows], np.int64)
    planes = np.array([planes for _, planes in rows], np.int64)
    base = starts_of(counts * planes)
    blob = np.empty(int((counts * planes).sum()), np.uint8)
    scatter(blob, base, numbers, counts, planes)
    assert gather(blob, base, counts, planes).tolist() == numbers.tolist()
