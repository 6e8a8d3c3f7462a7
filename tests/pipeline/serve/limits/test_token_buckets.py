"""A client may ask often for a moment, and steadily at its rate, whichever worker it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.serve.limits import token_buckets
from crawlctl.pipeline.serve.limits.token_buckets import BURST_SECONDS, TokenBuckets

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_full_bucket_is_emptied_and_filled_again() -> None:
    clock = Clock()
    buckets = TokenBuckets(2.0, clock=clock)
    assert [buckets.wait_of("a") for _ in range(11)] == [0.0] * 10 + [0.5]
    assert buckets.wait_of("b") == 0.0, "another client has its own"
    clock.now += 0.25
    assert buckets.wait_of("a") == 0.25, "to be refused takes no token"
    clock.now += 0.25
    assert [buckets.wait_of("a"), buckets.wait_of("a")] == [0.0, 0.5]


def test_without_a_rate_nobody_waits() -> None:
    assert {TokenBuckets(0.0).wait_of("a") for _ in range(100)} == {0.0}


def test_workers_share_the_bucket_of_a_client(tmp_path: Path) -> None:
    clock = Clock()
    one, other = (TokenBuckets(1.0, str(tmp_path), clock) for _ in range(2))
    assert [worker.wait_of("a") for worker in (one, other, one, other, one, other)] == [0.0] * 5 + [1.0]


def test_a_client_whose_place_was_taken_has_a_full_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_buckets, "PLACES", 1)
    buckets = TokenBuckets(0.2, clock=Clock())
    assert [buckets.wait_of(client) for client in "aabba"] == [0.0, 5.0, 0.0, 5.0, 0.0]


@given(
    st.floats(0.1, 50),
    st.lists(st.floats(0, 3), min_size=1, max_size=60),
)
def test_no_client_gets_more_than_its_rate_and_one_bucket(rate: float, pauses: list[float]) -> None:
    clock = Clock()
    buckets, taken, began = TokenBuckets(rate, clock=clock), 0, clock.now
    for pause in pauses:
        clock.now += pause
        taken += buckets.wait_of("a") == 0.0
    assert taken <= max(1.0, rate * BURST_SECONDS) + (clock.now - began) * rate + 1e-6
