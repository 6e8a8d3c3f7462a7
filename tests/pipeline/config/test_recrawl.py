from __future__ import annotations

from typing import Any

import pytest

from crawlctl.pipeline.config.recrawl import Pace, RecrawlSettings
from crawlctl.pipeline.config.units import DAY


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
