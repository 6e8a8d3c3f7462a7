"""Latency of answers as counters of a run: buckets on a log scale, so that the counts of all tasks add up.

A bucket ends 2 ** (1 / 4) times later than the bucket before it, from 1 ms to 17 minutes. So a percentile is
known within 9 %, whatever the number of tasks and rounds, and a run needs at most 81 small counters.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LATENCY = "latency "  # the beginning of the counters; the number of the bucket follows
_PER_DOUBLING = 4
_FIRST_END = 0.001  # seconds: bucket 0 has all faster answers
LAST_BUCKET = 80
_NAMES = tuple(f"{LATENCY}{number}" for number in range(LAST_BUCKET + 1))


def latency_counter(seconds: float) -> str:
    """Return the counter of an answer that took this long."""
    return _NAMES[bucket_of(seconds)]


def bucket_of(seconds: float) -> int:
    """Return the number of the bucket that holds a latency."""
    if seconds <= _FIRST_END:
        return 0
    return min(LAST_BUCKET, math.ceil(_PER_DOUBLING * math.log2(seconds / _FIRST_END)))


def histogram_of(counters: Mapping[str, int]) -> Counter[int]:
    """Return how many answers each bucket has, by the counters of runs."""
    found = ((name.removeprefix(LATENCY), count) for name, count in counters.items() if is_latency(name))
    return Counter({int(number): count for number, count in found})


def is_latency(name: str) -> bool:
    """Return whether a counter counts the answers of a latency bucket."""
    return name.startswith(LATENCY)


def percentile(histogram: Mapping[int, int], share: float) -> float | None:
    """Return the seconds within which this share of the answers came, None if there are no answers.

    The result is the middle of a bucket, on the log scale.
    """
    wanted = share * sum(histogram.values())
    seen = 0
    for bucket in sorted(histogram):
        seen += histogram[bucket]
        if seen and seen >= wanted:
            return _middle(bucket)
    return None


def _middle(bucket: int) -> float:
    return _FIRST_END * float(2 ** ((bucket - 0.5) / _PER_DOUBLING))
