from __future__ import annotations

import time
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.text.details.page_dates import believable, is_believable, modified_if_later, parse_date
from crawlctl.pipeline.text.documents.page import PageDate

if TYPE_CHECKING:
    from collections.abc import Iterator

NOON = 1_714_564_800  # 2024-05-01 12:00 UTC
FETCHED = 1_794_000_000
DAY = 86_400


@pytest.fixture
def far_from_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the machine of the test stand in Auckland, whose time zone must not count."""
    monkeypatch.setenv("TZ", "NZST-12")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-01T12:00:00Z",
        " 2024-05-01T12:00:00.123Z ",
        "2024-05-01T14:00:00+02:00",
        "2024-05-01T14:00:00+0200",
        "2024-05-01T14:00:00+02",
        "2024-05-01 12:00",
        "20240501T120000Z",
        "20240501T140000+0200",
        "20240501120000",
        "D:20240501140000+02'00'",
        "D:20240501120000Z",
        "Wed, 01 May 2024 12:00:00 GMT",
        "01 May 2024 14:00:00 +0200",
        "Wed, 01 May 2024 12:00:00",
        "Wed, 01 May 2024 12:00:00 -0000",
        "1714564800",
        "1714564800123",
    ],
)
def test_one_moment_in_all_forms(text: str, far_from_utc: None) -> None:
    assert parse_date(text) == NOON


@pytest.mark.parametrize("text", ["2024-05-01", "20240501", "D:20240501"])
def test_a_day_alone_is_its_beginning_in_utc(text: str) -> None:
    assert parse_date(text) == NOON - DAY // 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2024",
        "2024-05",
        "2024-13-01",
        "20241301",
        "yesterday",
        "May",
        "2024-05-01T",
        "1" * 80,
        "0000-00-00",
    ],
)
def test_what_names_no_day_is_no_date(text: str) -> None:
    assert parse_date(text) is None


@given(st.text(max_size=70))
def test_any_text_is_a_date_or_none(text: str) -> None:
    assert parse_date(text) is None or isinstance(parse_date(text), int)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)))
def test_forms_of_a_moment_agree(moment: datetime) -> None:
    moment = moment.replace(microsecond=0)
    seconds = int(moment.timestamp())
    for form in (moment.isoformat(), format_datetime(moment), moment.strftime("D:%Y%m%d%H%M%SZ")):
        assert parse_date(form) == seconds


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (631_151_999, False),
        (631_152_000, True),
        (FETCHED - 61, True),
        (FETCHED - 60, False),
        (FETCHED, False),
        (FETCHED + 61, True),  # a local time without its zone
        (FETCHED + DAY, True),
        (FETCHED + DAY + 1, False),
    ],
)
def test_dates_that_cannot_be_true(seconds: int, expected: bool) -> None:
    assert is_believable(seconds, FETCHED) is expected
    wanted = PageDate(seconds, "time") if expected else None
    assert believable(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)), "time", FETCHED) == wanted


def test_without_a_fetch_time_the_present_counts() -> None:
    assert not is_believable(int(time.time()))
    assert not is_believable(int(time.time()) + 2 * DAY)
    assert is_believable(NOON)


def test_a_change_long_before_the_publication_is_no_change() -> None:
    published = PageDate(NOON, "json-ld")
    for modified, wanted in ((NOON - DAY, True), (NOON - DAY - 1, False), (NOON + 1, True)):
        date = PageDate(modified, "time")
        assert modified_if_later(published, date) == (date if wanted else None)
        assert modified_if_later(None, date) == date
    assert modified_if_later(published, None) is None
