from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.webdb.records import Status, WebEntry
from crawlctl.pipeline.webdb.schedule import DAY, HOUR, Pace, RecrawlPolicy

POLICY = RecrawlPolicy()


@given(st.integers(0, 10 * 365 * DAY), st.booleans())
def test_an_adapted_interval_is_within_its_bounds(interval: int, changed: bool) -> None:
    pace = Pace(minimum=6 * HOUR, maximum=30 * DAY)
    assert 6 * HOUR <= pace.adapt(interval, changed) <= 30 * DAY


@given(st.integers(1, 100))
def test_rounding_never_stops_an_interval(interval: int) -> None:
    pace = Pace(minimum=1)
    assert pace.adapt(interval, changed=False) > interval
    assert pace.adapt(interval, changed=True) < interval or interval == 1


@pytest.mark.parametrize("days", [1, 5, 30])
def test_the_interval_settles_near_the_rate_of_change(days: int) -> None:
    random = Random(days)  # page changes are a Poisson process
    pace, interval, total = Pace(), Pace().first(), 0
    for _ in range(4000):
        changed = random.expovariate(1 / (days * DAY)) < interval
        interval = pace.adapt(interval, changed)
        total += interval
    assert 0.6 * days * DAY < total / 4000 < 1.4 * days * DAY


def test_equal_bounds_fix_the_interval() -> None:
    pace = Pace(minimum=DAY, maximum=DAY)
    assert pace.first() == pace.adapt(pace.first(), True) == pace.adapt(pace.first(), False) == DAY


def test_the_most_exact_pattern_gives_the_pace() -> None:
    names = ["shop.example.org", "shop.example.org:8080", "*.example.org", "*.news.example.org", "[::1]"]
    paces = {name: Pace(initial=number) for number, name in enumerate(names, 1)}
    policy = RecrawlPolicy(hosts=paces)
    wanted = {
        "shop.example.org": "shop.example.org",
        "shop.example.org:8080": "shop.example.org:8080",
        "shop.example.org:8443": "shop.example.org",
        "www.example.org": "*.example.org",
        "www.example.org:8080": "*.example.org",
        "uk.news.example.org": "*.news.example.org",
        "news.example.org": "*.example.org",
        "[::1]": "[::1]",
        "[::1]:80": "[::1]",
    }
    assert {host: policy.pace_of(host) for host in wanted} == {
        host: paces[name] for host, name in wanted.items()
    }
    for other in ("example.org", "badexample.org", "example.com", "org", ""):
        assert policy.pace_of(other) is policy.pace


def test_the_back_off_grows_to_its_maximum() -> None:
    waits = [POLICY.back_off(tries) for tries in range(1, 7)]
    assert waits == [HOUR, 4 * HOUR, 16 * HOUR, 64 * HOUR, 72 * HOUR, 72 * HOUR]
    assert RecrawlPolicy(retry_limit=100).back_off(10**9) == 72 * HOUR


def test_a_rest_grows_while_the_status_stays() -> None:
    rests = []
    entry = WebEntry(Status.FETCHED, 0, 0.0, 0, 0, interval=90 * DAY)
    for _ in range(9):
        rest = POLICY.rest_of(entry, Status.GONE)
        entry = WebEntry(Status.GONE, 0, 0.0, 0, 0, interval=rest)
        rests.append(rest // DAY)
    assert rests == [14, 21, 31, 47, 70, 106, 159, 180, 180]
    assert POLICY.rest_of(entry, Status.FORBIDDEN) == 14 * DAY


@given(st.integers(0, 365 * DAY), st.binary(max_size=40))
def test_the_spread_takes_off_a_tenth_at_most(wait: int, key: bytes) -> None:
    assert 0.9 * wait - 1 <= POLICY.spread(wait, key) <= wait


def test_pages_injected_together_fall_due_apart() -> None:
    waits = [POLICY.spread(10 * DAY, b"example.org https://example.org/%d" % page) for page in range(10_000)]
    by_hour = [0] * 25
    for wait in waits:
        by_hour[(10 * DAY - wait) // HOUR] += 1
    assert max(by_hour[:24]) < 1.3 * 10_000 / 24
    assert min(by_hour[:24]) > 0.7 * 10_000 / 24


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"minimum": 0}, "minimum"),
        ({"minimum": 2, "maximum": 1}, "minimum"),
        ({"initial": 0}, "initial"),
        ({"grow": 0.9}, "grow"),
        ({"grow": float("inf")}, "grow"),
        ({"shrink": float("nan")}, "shrink"),
        ({"shrink": 0}, "shrink"),
        ({"shrink": 1.1}, "shrink"),
    ],
)
def test_a_pace_that_makes_no_sense_is_refused(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=f"setting {named} must"):
        Pace(**settings)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"retry_first": 0}, "retry_first"),
        ({"retry_first": 4 * DAY}, "retry_first"),
        ({"retry_growth": 0.5}, "retry_growth"),
        ({"retry_limit": 0}, "retry_limit"),
        ({"retry_limit": 101}, "retry_limit"),
        ({"confirm_after": 0}, "confirm_after"),
        ({"rest": 0}, "rest"),
        ({"rest": 181 * DAY}, "rest"),
        ({"rest_growth": 0.9}, "rest_growth"),
        ({"jitter": 1}, "jitter"),
        ({"jitter": -0.1}, "jitter"),
        ({"hosts": {"www.*.org": Pace()}}, r"hosts\.www"),
        ({"hosts": {"*": Pace()}}, r"hosts\.\*"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=f"setting {named}.* must"):
        RecrawlPolicy(**settings)
