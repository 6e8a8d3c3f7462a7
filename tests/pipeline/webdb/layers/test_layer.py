from __future__ import annotations

from itertools import pairwise
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.webdb.layers.layer import (
    RATIO,
    Layer,
    due_merges,
    first_to_merge,
    layers_of,
    newest_number,
)


def layer(number: int, rows: int, round_number: int = 1) -> Layer:
    name = data_name("webdb", 0, round_number)
    counters = {"rows": rows, "layer": number, "since": number}
    data = FileEntry("webdb", 0, f"{name}/data", 1, rows, "0" * 64, counters)
    return Layer(data, FileEntry("webdb", 0, f"{name}/index", 1, 0, "0" * 64))


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=400))
def test_layers_are_few_and_rows_are_written_few_times(deltas: list[int]) -> None:
    layers: list[tuple[int, int]] = []  # rows, and how often each was written at most
    for rows in deltas:
        start = first_to_merge([rows for rows, _ in layers])
        if start < len(layers):
            merged = layers[start:]
            layers[start:] = [(sum(rows for rows, _ in merged), 1 + max(times for _, times in merged))]
        layers.append((rows, 1))
    total = sum(deltas)
    sizes = [rows for rows, _ in layers[:-1]]
    assert all(rows > RATIO * sum(sizes[at + 1 :]) for at, rows in enumerate(sizes[:-1]))
    assert len(layers) <= 3 + log(total, RATIO)
    assert all(times <= 2 + log(total, 1 + 1 / RATIO) for _, times in layers)


def test_layers_that_the_index_has_not_seen_stay_apart() -> None:
    layers = [layer(1, 100, 1), layer(2, 90, 2), layer(3, 80, 3), layer(4, 70, 4)]
    assert due_merges(layers, indexed=2) == [layers[:2], layers[2:]]
    assert due_merges(layers, indexed=1) == [layers[1:]]
    assert due_merges(layers, indexed=4) == due_merges(layers, indexed=-1) == [layers]
    assert due_merges(layers[:1], indexed=4) == due_merges([], indexed=4) == []


def test_layers_sort_by_their_numbers_in_any_order_of_files() -> None:
    layers = [layer(number, 5) for number in range(5)]
    files = [file for one in (layers[3], layers[0], layers[4], layers[2], layers[1]) for file in one.files]
    assert layers_of(reversed(files)) == layers
    assert newest_number(files) == 4 and newest_number([]) == -1
    assert all(one.number < other.number for one, other in pairwise(layers_of(files)))


def test_files_that_are_no_layers_are_refused() -> None:
    one, other = layer(1, 5), layer(1, 5)
    for files in ([one.data], [one.index], [*one.files, other.data], [*one.files, *other.files]):
        with pytest.raises(StoreError, match="one data and one index file"):
            layers_of(files, "here")


def test_a_layer_below_another_says_only_what_it_has_itself() -> None:
    below = layer(3, 7).without_totals()
    assert (below.rows, below.number, below.since, below.data.records) == (7, 3, 3, 0)
