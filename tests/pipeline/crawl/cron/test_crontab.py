from __future__ import annotations

import pytest

pytest.importorskip("crontab", reason="python-crontab is not installed")

from crontab import CronSlices

from crawlctl.pipeline.crawl.cron.crontab import cron_line, expression, tags_of
from crawlctl.pipeline.errors import ConfigError

YEAR_OF_DAYS = 365


@pytest.mark.parametrize(
    ("every", "a_day"),
    [("1m", 1440), ("15m", 96), ("60m", 24), ("1h", 24), ("6h", 4), ("24h", 1), ("1d", 1)],
)
def test_a_span_becomes_an_expression_that_fires_as_often(every: str, a_day: int) -> None:
    for store in map(str, range(20)):
        slices = CronSlices(expression(every, store))
        assert slices.frequency_per_day() == a_day
        assert slices.frequency_per_year(year=2027) == YEAR_OF_DAYS


def test_a_week_is_one_day_of_it() -> None:
    fields = expression("1w", "crawl").split()
    assert fields[2:4] == ["*", "*"]
    assert 0 <= int(fields[4]) <= 6
    assert expression("7d", "crawl") == expression("1w", "crawl")


def test_stores_begin_at_different_minutes_and_each_always_at_the_same() -> None:
    minutes = {expression("1d", str(number)).split()[0] for number in range(50)}
    assert len(minutes) > 10
    assert expression("1d", "crawl") == expression("1d", "crawl")


def test_an_expression_is_kept() -> None:
    assert expression("*/10 6-18 * * mon-fri", "crawl").split()[:2] == ["*/10", "6-18"]
    assert expression("@weekly", "crawl") in {"@weekly", "0 0 * * 0"}


def test_percent_signs_are_escaped_and_line_ends_refused() -> None:
    line = cron_line("0 4 * * *", "date +%s", tags_of("s3://bucket/50%")[0])
    assert line.startswith("0 4 * * * date +\\%s # crawlctl ")
    assert line.count("%") == 1
    with pytest.raises(ConfigError, match="line end"):
        cron_line("0 4 * * *", "cd 'a\nb'", "crawlctl x")
