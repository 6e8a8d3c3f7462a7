from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import Pace, RecrawlSettings
from crawlctl.pipeline.config.units import DAY, HOUR, Duration
from crawlctl.pipeline.webdb.records import Status, WebEntry
from crawlctl.pipeline.webdb.recrawl_schedule import adapt, back_off, first_interval, pace_of, rest_of, spread

SETTINGS = RecrawlSettings()


@given(st.integers(0, 10 * 365 * DAY), st.booleans())
def test_an_adapted_interval_is_within_its_bounds(interval: int, changed: bool) -> None:
    pace = Pace(minimum=Duration(6 * HOUR), maximum=Duration(30 * DAY))
    assert 6 * HOUR <= adapt(pace, interval, changed) <= 30 * DAY


@given(st.integers(1, 100))
def test_rounding_never_stops_an_interval(interval: int) -> None:
    pace = Pace(minimum=Duration(1))
    assert adapt(pace, interval, changed=False) > interval
    assert adapt(pace, interval, changed=True) < interval or interval == 1


@pytest.mark.parametrize("days", [1, 5, 30])
def test_the_interval_settles_near_the_rate_of_change(days: int) -> None:
    random = Random(days)  # page changes are a Poisson process
    pace, interval, total = Pace(), first_interval(Pace()), 0
    for _ in range(4000):
        changed = random.expovariate(1 / (days * DAY)) < interval
        interval = adapt(pace, interval, changed)
        total += interval
    assert 0.6 * days * DAY < total / 4000 < 1.4 * days * DAY


def test_equal_bounds_fix_the_interval() -> None:
    pace = Pace(minimum=Duration(DAY), maximum=Duration(DAY))
    assert (
        first_interval(pace)
        == adapt(pace, first_interval(pace), True)
        == adapt(pace, first_interval(pace), False)
        == DAY
    )


def test_the_most_exact_pattern_gives_the_pace() -> None:
    names = ["shop.example.org", "shop.example.org:8080", "*.example.org", "*.news.example.org", "[::1]"]
    paces = {name: Pace(initial=Duration(number)) for number, name in enumerate(names, 1)}
    settings = RecrawlSettings(hosts=paces)
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
    assert {host: pace_of(settings, host) for host in wanted} == {
        host: paces[name] for host, name in wanted.items()
    }
    for other in ("example.org", "badexample.org", "example.com", "org", ""):
        assert pace_of(settings, other) is settings.pace


def test_the_back_off_grows_to_its_maximum() -> None:
    waits = [back_off(SETTINGS, tries) for tries in range(1, 7)]
    assert waits == [HOUR, 4 * HOUR, 16 * HOUR, 64 * HOUR, 72 * HOUR, 72 * HOUR]
    assert back_off(RecrawlSettings(retry_limit=100), 10**9) == 72 * HOUR


def test_a_rest_grows_while_the_status_stays() -> None:
    rests = []
    entry = WebEntry(Status.FETCHED, 0, 0.0, 0, 0, interval=90 * DAY)
    for _ in range(9):
        rest = rest_of(SETTINGS, entry, Status.GONE)
        entry = WebEntry(Status.GONE, 0, 0.0, 0, 0, interval=rest)
        rests.append(rest // DAY)
    assert rests == [14, 21, 31, 47, 70, 106, 159, 180, 180]
    assert rest_of(SETTINGS, entry, Status.FORBIDDEN) == 14 * DAY


@given(st.integers(0, 365 * DAY), st.binary(max_size=40))
def test_the_spread_takes_off_a_tenth_at_most(wait: int, key: bytes) -> None:
    assert 0.9 * wait - 1 <= spread(SETTINGS, wait, key) <= wait


def test_pages_injected_together_fall_due_apart() -> None:
    waits = [
        spread(SETTINGS, 10 * DAY, b"example.org https://example.org/%d" % page) for page in range(10_000)
    ]
    by_hour = [0] * 25
    for wait in waits:
        by_hour[(10 * DAY - wait) // HOUR] += 1
    assert max(by_hour[:24]) < 1.3 * 10_000 / 24
    assert min(by_hour[:24]) > 0.7 * 10_000 / 24
