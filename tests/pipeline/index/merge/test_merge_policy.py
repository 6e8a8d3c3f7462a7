from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.index.merge.merge_policy import Item, Limits, plan_full_merge, plan_merges

WIDE = Limits(documents=10**9, words=10**12, sources=1000)
sizes = st.integers(1, 50)


def runs_of(counts: list[int], start: int = 0) -> list[Item]:
    return [Item(f"run{start + number}", count, 100 * count) for number, count in enumerate(counts)]


def sized(items: tuple[Item, ...]) -> tuple[int, int]:
    return sum(item.documents for item in items), sum(item.words for item in items)


@given(
    st.lists(st.lists(sizes, min_size=1, max_size=3), min_size=1, max_size=60), st.sampled_from([1.5, 2, 4])
)
def test_segments_and_rewrites_grow_with_the_logarithm(rounds: list[list[int]], ratio: float) -> None:
    segments: list[Item] = []
    written: Counter[str] = Counter()
    inside: dict[str, list[str]] = {}
    for number, counts in enumerate(rounds):
        runs = runs_of(counts, 10 * number)
        inside |= {run.name: [run.name] for run in runs}
        for plan in plan_merges(runs, segments, ratio, WIDE):
            new = Item(f"segment{number}", *sized(plan))
            inside[new.name] = [document for item in plan for document in inside[item.name]]
            written.update(inside[new.name])
            taken = {item.name for item in plan}
            segments = [segment for segment in segments if segment.name not in taken] + [new]
    total = sum(segment.documents for segment in segments)
    assert total == sum(map(sum, rounds)), "nothing is lost, nothing is there twice"
    assert len(segments) <= 1 + log(total, ratio)
    assert max(written.values()) <= 1 + log(total, 1 + 1 / ratio)
    ordered = sorted(segment.documents for segment in segments)
    assert all(larger > ratio * smaller for smaller, larger in pairwise(ordered))


limits = st.builds(Limits, st.integers(1, 100), st.integers(100, 10_000), st.integers(2, 5))


@given(
    st.lists(sizes, max_size=20),
    st.lists(st.tuples(sizes, st.booleans()), max_size=8),
    limits,
    st.booleans(),
)
def test_limits_are_kept_and_all_runs_merged(
    counts: list[int], older: list[tuple[int, bool]], bounds: Limits, full: bool
) -> None:
    runs = runs_of(counts)
    segments = [Item(f"s{n}", count, 100 * count, stale) for n, (count, stale) in enumerate(older)]
    plans = plan_full_merge(runs, segments, bounds) if full else plan_merges(runs, segments, 2, bounds)
    names = [item.name for plan in plans for item in plan]
    assert len(names) == len(set(names))
    must = {run.name for run in runs} | {segment.name for segment in segments if segment.stale or full}
    assert must <= set(names)
    for plan in plans:
        documents, words = sized(plan)
        # One source alone goes through whatever its size: it was made under limits once.
        assert len(plan) == 1 or (documents <= bounds.documents and words <= bounds.words)
        assert len(plan) <= bounds.sources


def test_where_nothing_is_new_nothing_is_merged() -> None:
    assert plan_merges([], [Item("s0", 5, 5), Item("s1", 5, 5)], 2, WIDE) == []


def test_a_large_segment_stays_out_of_a_small_merge() -> None:
    (plan,) = plan_merges(runs_of([10]), [Item("small", 20, 0), Item("large", 61, 0)], 2, WIDE)
    assert [item.name for item in plan] == ["run0", "small"]


@pytest.mark.parametrize(("megabytes", "sources"), [(1, 2), (64, 2), (512, 21)])
def test_memory_bounds_how_many_sources_are_open_at_once(megabytes: int, sources: int) -> None:
    assert Limits.of_memory(megabytes << 20, 1 << 20).sources == sources
