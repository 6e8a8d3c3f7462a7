from __future__ import annotations

from typing import Any

import msgspec
import pytest

from crawlctl.pipeline.config.settings import (
    Config,
    FetchSettings,
    Pace,
    ParseSettings,
    RecrawlSettings,
    RoundSettings,
    RunnerSettings,
)
from crawlctl.pipeline.config.units import DAY, Duration, decode_unit
from crawlctl.pipeline.crawl.round_pace import FIRST, USUAL
from crawlctl.pipeline.state.leases.lease_records import LONGEST_TTL


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
    with pytest.raises(ValueError, match=f"^{named} must"):
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
def test_a_schedule_that_makes_no_sense_is_refused(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named}.* must"):
        RecrawlSettings(**settings)


@pytest.mark.parametrize(
    "proxy",
    [
        "",
        "proxy.example",
        "proxy.example:3128",
        "http://proxy.example:3128/",
        "https://anna:secret@proxy.example",
        "http://anna:se@c:r/et@proxy.example:80",
        "anna:secret@proxy.example",
        "socks5h://127.0.0.1:1080",
        "http://[::1]:3128",
    ],
)
def test_a_proxy_is_taken_as_it_stands(proxy: str) -> None:
    assert FetchSettings(proxy=proxy).proxy == proxy


@pytest.mark.parametrize(
    "proxy",
    [
        "http://anna:secret@proxy.example:99999",
        "http://anna:secret@proxy.example:0",
        "http://anna:secret@proxy.example:port",
        "socks9://anna:secret@proxy.example",
        "http://anna:secret@proxy.example:1 x",
        "http://anna:secret@",
        "http://",
    ],
)
def test_what_is_no_proxy_is_refused_without_its_password(proxy: str) -> None:
    with pytest.raises(ValueError, match="proxy must be as in") as raised:
        FetchSettings(proxy=proxy)
    assert "secret" not in str(raised.value)


def converted(**values: object) -> ParseSettings:
    return msgspec.convert(values, ParseSettings, dec_hook=decode_unit)


def test_settings_are_written_with_units() -> None:
    settings = converted(time_limit="10s", memory_limit="1g", near_duplicate=0.8)
    assert (settings.time_limit.whole, settings.memory_limit, settings.near_duplicate) == (10, 1 << 30, 0.8)


@pytest.mark.parametrize(
    "values",
    [
        {"near_duplicate": 1.5},
        {"near_duplicate": 0.1},
        {"max_links": 0},
        {"unknown": 1},
        {"max_text": "much"},
    ],
)
def test_what_makes_no_sense_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        converted(**values)


def test_the_default_is_the_forked_runner() -> None:
    assert RunnerSettings().name == "forked"


def test_what_cannot_work_is_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match="name must be one of forked, inline, local"):
        RunnerSettings(name="dataproc")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="workers must be 1 or more"):
        RunnerSettings(workers=0)


def test_no_default_takes_back_what_another_one_allows() -> None:
    config = Config()
    fetch, parse, politeness = config.fetch, config.parse, config.politeness
    assert fetch.max_body >= parse.max_html
    assert politeness.patience >= politeness.max_response_delay
    assert politeness.patience >= politeness.backoff * 2 ** (politeness.max_failures - 2), "the last back-off"
    assert max(politeness.patience, politeness.max_crawl_delay) <= USUAL
    assert config.round.flush_time <= FIRST
    assert fetch.connect_timeout <= fetch.timeout and fetch.min_speed_span <= fetch.timeout
    assert fetch.stall_time >= fetch.min_speed_span
    assert fetch.memory <= config.round.task_memory // 8, "what a fetch task may take of its memory"
    assert config.budgets.urls_earned_per_page >= config.scope.max_new_urls_per_page
    first_retry = config.recrawl.retry_first * (1 - config.recrawl.jitter)
    assert politeness.robots_retry <= first_retry, "else a page due again fails without being asked for"
    assert politeness.max_backoff <= config.recrawl.retry_first
    assert config.lease.ttl <= LONGEST_TTL


def test_a_round_without_time_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^max_time must be above 0"):
        RoundSettings(max_time=Duration(0))
