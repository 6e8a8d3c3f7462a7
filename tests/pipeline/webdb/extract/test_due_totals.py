from __future__ import annotations

from collections import Counter
from itertools import pairwise
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.census import Census, NextCensus, due_ranges
from crawlctl.pipeline.webdb.extract import due_totals
from crawlctl.pipeline.webdb.extract.due_totals import DueTotals
from crawlctl.pipeline.webdb.extract.part_extract import extract_of
from crawlctl.pipeline.webdb.layers.changes import Changed
from crawlctl.tests.pipeline.webdb.extract.made_parts import NOW, Table, changes, histories, made_part

times = st.lists(st.integers(0, 30) | st.integers(1000, 1005), max_size=40)


@given(
    there=st.lists(times, min_size=1, max_size=3),
    share=st.integers(0, 4),
    bounds=st.sets(st.integers(0, 1010)),
)
def test_ranges_count_the_times_that_are_left(there: list[list[int]], share: int, bounds: set[int]) -> None:
    every = [time for column in there for time in column]
    away = every[::share] if share else []
    left = sorted((Counter(every) - Counter(away)).elements())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(due_totals, "_FIRST_LOOK", 1)
        columns = [np.sort(np.array(column, np.uint32)) for column in there]
        found = list(DueTotals(columns, [np.sort(np.array(away, np.uint32))]).ranges(sorted(bounds)))
    expected = []
    for low, high in pairwise([-1, *sorted(bounds), 1 << 40]):
        inside = [time for time in left if low < time <= high]
        expected += [(inside[0], inside[-1], len(inside))] if inside else []
    assert found == expected


@given(histories, changes)
def test_a_census_by_the_extract_is_that_of_all_rows(
    history: list[tuple[Table, bool]], change: Table
) -> None:
    with TemporaryDirectory() as folder:
        part, table = made_part(LocalStore(folder), history)
        extract = extract_of(part)
        if part is None or extract is None or not change:
            return
        before = Census(now=NOW)
        before.add(sorted(table), [table[key] for key in sorted(table)])
        by_extract = NextCensus(before.counters(), part, now=NOW, extract=extract)
        ordered = sorted(change)
        by_extract.add(Changed(ordered, [change[k] for k in ordered], [table.get(k) for k in ordered], []))
        after = Census(now=NOW)
        merged = table | change
        after.add(sorted(merged), [merged[key] for key in sorted(merged)])
        assert due_ranges(by_extract.counters()) == due_ranges(after.counters())
        assert by_extract.counters() == after.counters()
