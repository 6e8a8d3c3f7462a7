from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.units import Characters, Duration, Size, decode_unit, encode_unit


@given(st.integers(min_value=0, max_value=8 * 10**10), st.sampled_from([Duration, Size]))
def test_what_is_printed_reads_back(number: int, kind: type[Duration] | type[Size]) -> None:
    assert kind.parse(str(kind(number))) == number
    assert kind.parse(kind(number).spelled()) == number


@given(st.integers(min_value=0, max_value=8 * 10**13))
def test_a_duration_keeps_its_milliseconds(milliseconds: int) -> None:
    duration = Duration.parse(f"{milliseconds}ms")
    assert duration.milliseconds == milliseconds
    assert Duration.parse(str(duration)) == Duration.parse(duration.spelled()) == duration
    assert Duration.parse(float(duration)) == Duration.parse(duration) == duration
    assert duration.whole - 1 < duration <= duration.whole


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("1.5h", 5400),
        ("7 d", 604800),
        ("2W", 1209600),
        ("0", 0),
        ("0.4s", 0.4),
        ("500ms", 0.5),
        ("1.5min", 90),
        ("1.0000001s", 1.001),
        ("0.1ms", 0.001),
        ("0.07s", 0.07),
        ("5min", 300),
        ("5m", 300),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert float(Duration.parse(text)) == seconds


@pytest.mark.parametrize(
    "value", ["", "h", "-1s", "1y", "1h30m", -1, -0.5, True, math.inf, math.nan, None, [1], 1e300, "9" * 400]
)
def test_what_is_no_duration_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        Duration.parse(value)


@pytest.mark.parametrize("text", ["512M", "512m", "512MiB", "512 mib", "512MB", "524288k", "0.5GiB"])
def test_sizes_count_in_powers_of_two(text: str) -> None:
    assert Size.parse(text) == 512 << 20


@pytest.mark.parametrize("text", ["5min", "5h", "5s"])
def test_a_unit_of_time_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a size; write a number and a unit \(B, KiB, MiB, GiB\)"):
        Size.parse(text)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Duration(90), "90s"),
        (Duration(300), "5min"),
        (Duration(14 * 86400), "14d"),
        (Duration(0), "0"),
        (Duration(0.5), "500ms"),
        (Duration(0.001), "1ms"),
        (Duration(1.5), "1.5s"),
        (Duration(90.25), "90.25s"),
        (Size(256), "256B"),
        (Size(8 << 20), "8MiB"),
        (Characters(1 << 20), 1 << 20),
    ],
)
def test_what_is_shown_to_people_cannot_be_misread(value: Duration | Size, shown: str | int) -> None:
    assert encode_unit(value) == shown
    assert decode_unit(type(value), shown) == value


def test_the_short_form_stays_as_it_was() -> None:
    assert (str(Size(512 << 20)), str(Duration(300)), str(Duration(7 * 86400))) == ("512m", "5m", "1w")
