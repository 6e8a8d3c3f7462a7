from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.units import Duration, Size


@given(st.integers(min_value=0, max_value=10**12), st.sampled_from([Duration, Size]))
def test_what_is_printed_reads_back(number: int, kind: type[Duration] | type[Size]) -> None:
    assert kind.parse(str(kind(number))) == number


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("1.5h", 5400), ("7 d", 604800), ("2W", 1209600), ("0", 0), ("0.4s", 1)],
)
def test_durations(text: str, seconds: int) -> None:
    assert Duration.parse(text) == seconds


@pytest.mark.parametrize("value", ["", "h", "-1s", "1y", "1h30m", -1, True, 1.5, None, [1]])
def test_what_is_no_duration_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        Duration.parse(value)


def test_sizes_count_in_powers_of_two() -> None:
    assert (Size.parse("512M"), str(Size(512 << 20))) == (512 << 20, "512m")
