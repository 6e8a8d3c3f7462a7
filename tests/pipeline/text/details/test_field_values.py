from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.text.details.field_values import MAX_KEYWORD, field_value, number_of


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("7", 7),
        ("$ 12.50", 12.5),
        ("12,50 €", 12.5),
        ("1,299", 1299),
        ("1.299", 1.299),
        ("1,299.00", 1299.0),
        ("1.299,50", 1299.5),
        ("1.299.000", 1299000),
        ("12 345 km", 12345),
        ("1'000.5", 1000.5),
        ("-3", -3),
        ("−3 °C", -3),
        ("from 3 to 5", 3),
        (4, 4),
        (2.5, 2.5),
        ("none", None),
        ("", None),
        ("9" * 30, None),
        (True, None),
        (math.inf, None),
    ],
)
def test_numbers_as_people_write_them(written: str | float, number: float | None) -> None:
    assert number_of(written) == number


def test_keywords_and_dates() -> None:
    assert field_value("  two \n words ", "keyword") == "two words"
    assert field_value(" ", "keyword") is None
    assert field_value(7, "keyword") == "7"
    assert field_value("2024-05-01", "date") == "2024-05-01"
    assert field_value("Wed, 01 May 2024 11:30:00 +0200", "date") == "2024-05-01T09:30:00Z"
    assert field_value("May", "date") is None


@given(st.one_of(st.text(max_size=300), st.integers(), st.floats()))
def test_any_value_is_bounded(written: str | float) -> None:
    keyword = field_value(written, "keyword")
    assert keyword is None or len(str(keyword)) <= MAX_KEYWORD
    number = field_value(written, "number")
    assert number is None or math.isfinite(float(number))
    date = field_value(written, "date")
    assert date is None or field_value(date, "date") == date
