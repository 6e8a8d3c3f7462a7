"""Latency histograms: counts of tasks add up, and percentiles are right within a bucket."""

from __future__ import annotations

import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.fetch.save.latency import (
    LAST_BUCKET,
    bucket_of,
    histogram_of,
    is_latency,
    latency_counter,
    percentile,
)

LATENCIES = st.lists(st.floats(0.0011, 900), min_size=1, max_size=60)
WITHIN = 2 ** (1 / 8) + 1e-9  # half a bucket


@given(st.lists(LATENCIES, max_size=5))
def test_the_counters_of_tasks_add_up_to_the_counters_of_one_task(tasks: list[list[float]]) -> None:
    apart: Counter[str] = Counter()
    for task in tasks:
        apart.update(Counter(map(latency_counter, task)))
    together = Counter(latency_counter(seconds) for task in tasks for seconds in task)
    assert histogram_of(apart) == histogram_of(together)
    assert histogram_of(apart).total() == sum(map(len, tasks))


@given(LATENCIES, st.sampled_from([0.5, 0.9, 0.99, 1.0]))
def test_a_percentile_is_known_within_nine_percent(latencies: list[float], share: float) -> None:
    exact = sorted(latencies)[max(0, math.ceil(share * len(latencies) - 1e-9) - 1)]
    found = percentile(Counter(map(bucket_of, latencies)), share)
    assert found is not None
    assert exact / WITHIN <= found <= exact * WITHIN


def test_the_ends_of_the_scale_hold_everything() -> None:
    assert [bucket_of(seconds) for seconds in (0.0, 0.001, 1e9)] == [0, 0, LAST_BUCKET]
    assert bucket_of(0.002) == 4
    assert percentile({}, 0.5) is None


def test_only_these_counters_are_taken() -> None:
    counters = {"pages": 3, latency_counter(0.1): 2, "failed with timeout": 1}
    assert [name for name in counters if is_latency(name)] == [latency_counter(0.1)]
    assert histogram_of(counters) == {bucket_of(0.1): 2}
